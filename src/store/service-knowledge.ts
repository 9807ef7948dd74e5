/** What was learned of a service, whatever account it was learned from (`_service_knowledge`). It is learned again where the row is gone. */
import { sql } from 'kysely';
import { parseInstant, timestamp } from '../domain/clock.ts';
import { Transacted } from './sql/database.ts';
import { statement, type None } from './sql/statement.ts';

interface KnowledgeRow {
  readonly first_page: number | null;
  readonly asked_at: string | null;
  readonly largest_page: number;
  readonly counts_lists: number;
}

/** What is known of the pages of lists. */
export interface PageFacts {
  /** The number of the first page; undefined where it is not known. */
  readonly firstPage: 0 | 1 | undefined;
  /** Whether that was not asked within a day. */
  readonly mayAsk: boolean;
  /** The most rows that a page ever had. */
  readonly largestPage: number;
  /** Whether `total` was seen to count a list of several pages. */
  readonly countsLists: boolean;
}

/** How long it is not asked again where pages count from, in milliseconds. */
const timeBetweenQuestions = 24 * 3_600_000;

/** What the readers of lists need of it. */
export type PageMemory = Pick<ServiceKnowledge, 'read' | 'learn' | 'learnFirstPage'>;

/** The service that the mirror belongs to. */
const service = sql`coalesce((SELECT service FROM mirror_identity), '')`;

export class ServiceKnowledge extends Transacted {
  readonly #get = statement(this.db)<None, KnowledgeRow>`
      SELECT first_page, asked_at, largest_page, counts_lists FROM _service_knowledge WHERE service = ${service}`;
  readonly #ask = statement(this.db)<Pick<KnowledgeRow, 'first_page' | 'asked_at'>>`
      INSERT INTO _service_knowledge (service, first_page, asked_at)
      VALUES (${service}, ${'first_page'}, ${'asked_at'})
      ON CONFLICT (service) DO UPDATE SET first_page = excluded.first_page, asked_at = excluded.asked_at`;
  readonly #learn = statement(this.db)<Pick<KnowledgeRow, 'largest_page' | 'counts_lists'>>`
      INSERT INTO _service_knowledge (service, largest_page, counts_lists)
      VALUES (${service}, ${'largest_page'}, ${'counts_lists'})
      ON CONFLICT (service) DO UPDATE SET
        largest_page = max(_service_knowledge.largest_page, excluded.largest_page), counts_lists = excluded.counts_lists`;

  read(): Promise<PageFacts> {
    return this.database.read(() => this.#facts());
  }

  async learnFirstPage(firstPage: 0 | 1 | undefined): Promise<void> {
    const asked_at = timestamp(this.clock.now());
    await this.database.write(() => this.#ask.send({ first_page: firstPage ?? null, asked_at }));
  }

  /** Keeps what differs from what is known. */
  async learn({ largestPage, countsLists }: Pick<PageFacts, 'largestPage' | 'countsLists'>): Promise<void> {
    const known = await this.read();
    if (largestPage <= known.largestPage && countsLists === known.countsLists) return;
    await this.database.write(() => this.#learn.send({ largest_page: largestPage, counts_lists: Number(countsLists) }));
  }

  async #facts(): Promise<PageFacts> {
    const { first_page, asked_at, largest_page = 0, counts_lists = 0 } = (await this.#get.get({})) ?? {};
    const askedAt = parseInstant(asked_at ?? '');
    const since = askedAt === undefined ? Infinity : this.clock.now() - askedAt;
    return {
      firstPage: first_page === 0 || first_page === 1 ? first_page : undefined,
      // A clock that was set back must not silence the question.
      mayAsk: since < 0 || since >= timeBetweenQuestions,
      largestPage: largest_page,
      countsLists: counts_lists === 1,
    };
  }
}
