-- Digests of pages saved less than a tenth of the processor time of a sweep that finds nothing new, and nothing of any other.
DROP TABLE _page_digests;
DELETE FROM data_dictionary WHERE name = '_page_digests';
