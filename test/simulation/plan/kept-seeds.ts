/** Seeds that once broke a promise, each with the knobs that it needed and what it taught. They stay for ever. */

export interface KeptSeed {
  readonly seed: number;
  /** As `--knobs` takes them; all others are plain. */
  readonly knobs: string;
  readonly taught: string;
}

export const keptSeeds: readonly KeptSeed[] = [
  {
    seed: 52,
    knobs:
      'perPage=all readOne=404 archiveEvent=none objectId=callback fault:stall=0.02 fault:empty_list=0.1 vendors=20 minutes=22 changes=20 hot=yes',
    taught: 'where no vendor is read by number, an empty list is neither the first nor the second proof of an absence',
  },
  {
    seed: 99,
    knobs: 'readOne=404 vendors=35 rows=3 concurrency=1 latency=4000 changes=20 outage=errors_in_200',
    taught: 'a refused read by number does not teach that the service offers such reads',
  },
  {
    seed: 115,
    knobs:
      'order=shuffled fault:429_date=0.02 fault:errors_in_200=0.1 fault:reset_after=0.02 fault:empty_list=0.1 vendors=0 rows=3 changes=1 mass=import outage=403 stops=2 busy=3',
    taught: 'an empty list proves nothing while vendors are known, even where all of them are too young to be missed',
  },
  {
    seed: 11178,
    knobs:
      'rows=100 extraWalks=never breaker=20 changes=20 crashes=2 crashOf=machine downtime=60 lose=0.2 forge=0.2 vendors=1',
    taught:
      'mirror time does not pass while the machine is off: what the guard still covers is known of only up to then',
  },
  {
    seed: 17935,
    knobs:
      'visStateFilter=ignored listLag=2 objectId=callback fault:429_date=0.02 fault:html=0.1 fault:errors_in_200=0.1 fault:hang=0.02 fault:reset_after=0.02 fault:truncated=0.1 fault:wrong_page=0.02 rows=100 latency=12000 slow=lists changes=6 mass=import outage=empty_list outageMinutes=6 crashes=4 restarts=1 stops=2 jumps=2 full=1 forge=0.2 vendors=1',
    taught:
      'a delivery that was given up ends with the next reconciliation, whatever was delivered about the same number since',
  },
  {
    seed: 16646,
    knobs:
      'perPage=honoured pastEnd=404 order=shuffled total=counts_hidden listDeleted=shown visStateFilter=ignored listLag=2 readOne=405 readDeleted=404 serviceTime=local createStatus=201 apiVersion=required errorForm=events deleteEvent=both archiveEvent=delete extraParameter=present signAt=event disabled=silent handshakeWhen=before duplicate=second fault:403=0.1 fault:429=0.02 fault:hang=0.1 fault:empty_list=0.1 vendors=35 rows=15 vendorsRate=60 minutes=10 changes=6 hot=again outage=html outageMinutes=6 crashes=1 downtime=60 callbackLost=disabled lose=1 forge=0.2',
    taught: 'what a sweep was shown too late to be believed answers no delivery',
  },
  {
    seed: 2798,
    knobs:
      'perPage=all pastEnd=last order=updated_newest unlistedIds=2 visStateFilter=ignored readLag=2 readDeleted=404 noteInList=yes balances=object deletedGateway=204 deletedCallback=204 errorForm=rpc deleteEvent=both archiveEvent=none restoreEvent=none attempts=2 handshakeForm=json wrongVerifier=unverified duplicate=second fault:500=0.02 fault:503=0.02 fault:errors_in_200=0.02 fault:redirect=0.02 fault:reset=0.02 fault:stall=0.02 fault:truncated=0.1 fault:empty_list=0.02 vendors=3 rows=100 latency=800 slow=lists minutes=8 changes=1 hot=yes bursts=30 mass=import outage=empty_list crashes=4 downtime=60 restarts=1 suspends=1 jumps=2 lose=1 reorder=0.3 forge=0.2',
    taught: 'what is known for certain goes back to the run that began last, and not to the one with the latest time',
  },
  {
    seed: 12086,
    knobs:
      'paging=echoed pastEnd=404 order=updated_newest total=counts_hidden readLag=2 readOne=404 noteInList=yes required=name_language_currency deletedGateway=204 deletedCallback=204 gatewayScope=read errorForm=html deleteEvent=none archiveEvent=delete restoreEvent=none keyOrder=sorted extraParameter=present signAt=event attempts=2 disableAfter=3 handshakeSigned=no handshakeWhen=before duplicate=second fault:401=0.02 fault:403=0.1 fault:503=0.1 fault:redirect=0.02 fault:reset=0.02 fault:reset_after=0.02 fault:empty_list=0.02 vendors=45 rows=15 concurrency=1 extraWalks=never latency=4000 slow=lists minutes=8 hot=again mass=both outage=reset outageMinutes=6 crashes=1 downtime=60 jumps=2 callbackLost=disabled busy=3 full=1 forge=0.2',
    taught: 'pages that are all empty, of a list that counts many, may be the first page again and again',
  },
  {
    seed: 12754,
    knobs:
      'paging=echoed order=updated total=counts_hidden unlistedIds=2 listLag=2 readLag=4 readOne=405 noteInList=yes visState=text required=name deletedGateway=204 deletedCallback=204 apiVersion=required archiveEvent=delete escaping=utf8 signAt=event attempts=2 disabled=silent handshakeForm=json wrongVerifier=unverified callbackTime=plain fault:401=0.02 fault:429=0.1 fault:429_date=0.1 fault:redirect=0.1 fault:hang=0.02 rows=3 extraWalks=never breaker=20 vendorsRate=60 minutes=10 hot=yes bursts=30 outage=403 outageMinutes=6 full=1 lose=1',
    taught: 'so they may where vendors are counted, too, that nobody may read',
  },
  {
    seed: 29697,
    knobs:
      'perPage=honoured pastEnd=404 order=shuffled total=counts_hidden unlistedIds=2 listDeleted=shown listLag=4 readLag=4 required=name_language_currency createStatus=201 apiVersion=required errorForm=in200 rateWindow=sliding deleteEvent=none restoreEvent=none objectId=callback handshakeSigned=no callbackKeys=callbackid fault:hang=0.1 fault:reset=0.1 fault:reset_after=0.02 vendors=3 rows=3 extraWalks=never breaker=20 latency=4000 slow=lists minutes=10 bursts=30 mass=delete_many outage=403 outageMinutes=6 crashes=1 crashOf=machine restarts=1 full=1 lose=1 forge=0.2',
    taught: 'where orders change, two short passes over a few vendors may be the same by chance',
  },
  {
    seed: 311,
    knobs:
      'visStateFilter=ignored errorForm=html accounts=2 vendors=0 minutes=10 hot=yes crashes=2 callbackLost=disabled lose=0.2',
    taught:
      'where a 404 without the form of the service must be believed, a vendor that was read moments ago can show that reads are answered',
  },
  {
    seed: 636,
    knobs: 'fault:reset_after=0.1 vendorsRate=60 latency=4000 minutes=10 changes=20 hot=yes mass=both full=1',
    taught: 'a request that ends while the disk is full must not hold its place in the rate for ever',
  },
  {
    seed: 2821,
    knobs: 'readDeleted=404 errorForm=html vendors=1 minutes=8',
    taught:
      'where no read by number is answered, a 404 without the form of the service must not keep a vendor for ever',
  },
  {
    seed: 3736,
    knobs:
      'readDeleted=404 fault:stall=0.02 accounts=2 vendors=1 rows=3 extraWalks=never latency=800 slow=lists minutes=10 hot=again bursts=30',
    taught: 'a missing vendor that is found gone was absent before, and counts for no breaker',
  },
  {
    seed: 7518,
    knobs: 'accounts=2 vendorsRate=60 latency=12000 changes=20 restarts=1 vendors=1',
    taught: 'a request that was aborted may reach the service later, and counts for as long',
  },
  {
    seed: 22857,
    knobs:
      'fault:500=0.1 fault:503=0.02 fault:reset=0.02 fault:truncated=0.1 rows=100 latency=4000 minutes=10 hot=again outage=503 crashes=2 crashOf=machine downtime=60 suspends=1 jumps=2 busy=3 full=1',
    taught: 'where the clock was set back to before the reading that limits a claim, nothing is known of when it was',
  },
  {
    seed: 173,
    knobs:
      'perPage=ignored pastEnd=last visStateFilter=ignored readOne=405 readDeleted=404 editState=all balances=object required=name_language_currency createStatus=201 gatewayScope=read errorForm=in200 deleteEvent=both restoreEvent=none keyOrder=sorted escaping=utf8 attempts=2 disableAfter=3 handshakeForm=json handshakeWhen=before resentCode=same duplicate=second callbackKeys=callbackid fault:429=0.1 fault:500=0.02 fault:503=0.1 fault:redirect=0.02 fault:empty_list=0.02 accounts=2 vendors=3 rows=100 extraWalks=never latency=800 minutes=22 changes=1 bursts=30 writes=3 mass=delete_many downtime=60 suspends=1 busy=3 lose=1 late=0.2 repeat=0.3',
    taught: 'what the mirror holds of a vendor is no answer to the look after a lost write',
  },
  {
    seed: 2619,
    knobs:
      'visStateFilter=ignored readLag=4 fault:403=0.1 fault:429_date=0.1 fault:truncated=0.1 fault:empty_list=0.02 accounts=2 vendors=0 rows=15 concurrency=1 latency=800 minutes=10 changes=6 hot=again writes=1 crashes=4 downtime=60 jumps=2 busy=3 lose=0.2',
    taught: 'whoever asked is told what came of a write before it is closed: the process may die in between',
  },
  {
    seed: 6164,
    knobs:
      'visStateFilter=ignored listLag=2 readDeleted=404 errorForm=html objectId=callback handshakeWhen=before fault:401=0.02 fault:errors_in_200=0.1 fault:hang=0.1 fault:reset_after=0.1 fault:stall=0.1 fault:wrong_page=0.02 accounts=2 rows=100 concurrency=1 breaker=20 latency=4000 changes=1 hot=again bursts=30 writes=3 mass=both crashes=1 crashOf=machine restarts=1 answersLost=0.2',
    taught: 'an absence that two sweeps prove is as old as the later sweep, however long the run took since',
  },
  {
    seed: 19836,
    knobs:
      'fault:429_date=0.1 fault:errors_in_200=0.02 fault:redirect=0.1 fault:reset=0.1 fault:reset_after=0.02 latency=12000 minutes=10 writes=1 outage=503 crashes=2 downtime=60 stops=2 jumps=2 busy=3 full=1 vendors=3 changes=1',
    taught: 'a write that was answered may be done, whatever fails before its answer is used',
  },
  {
    seed: 21549,
    knobs:
      'fault:redirect=0.02 fault:stall=0.02 fault:truncated=0.1 fault:empty_list=0.1 accounts=2 vendors=20 concurrency=1 extraWalks=never latency=12000 slow=lists minutes=10 hot=yes bursts=30 writes=1 mass=both outage=reset crashes=1 crashOf=machine stops=2 busy=3 forge=0.2',
    taught: 'a first list that is empty is requested again, also where a deleted vendor is known already',
  },
  {
    seed: 9105,
    knobs:
      'readDeleted=404 errorForm=html extraParameter=present fault:403=0.1 fault:stall=0.1 fault:empty_list=0.02 accounts=2 vendors=3 extraWalks=never latency=800 minutes=10 changes=6 writes=1 outage=empty_list suspends=1 busy=3',
    taught: 'two sweeps prove an absence only of a vendor that nothing showed between them',
  },
  {
    seed: 900025,
    knobs: 'paging=zero perPage=ignored pastEnd=last total=fewer',
    taught: 'where page 2 repeats page 1, too, page 1 may be past the end: pages may count from 0',
  },
  {
    seed: 911378,
    knobs: 'paging=ignored perPage=ignored pages=one vendors=20 changes=1',
    taught: 'rows that are counted beyond a full page are not taken back by a service that says there is one page',
  },
  {
    seed: 911317,
    knobs:
      'order=updated total=counts_hidden unlistedIds=2 listArchived=hidden accounts=2 vendors=3 changes=20 mass=both lose=1',
    taught: 'the list of one state may begin with pages without rows',
  },
  {
    seed: 930442,
    knobs:
      'perPage=ignored order=updated_newest total=fewer readDeleted=404 fault:401=0.1 fault:429=0.1 fault:500=0.1 fault:hang=0.02 fault:reset_after=0.1 fault:truncated=0.02 fault:empty_list=0.1 accounts=2 vendors=20 latency=4000 slow=lists minutes=8 changes=20 mass=import outage=403 crashes=1 stops=2 suspends=1 jumps=2 callbackLost=disabled',
    taught:
      'a list that was under way when the clock was set back settles no delivery that came after it was asked for',
  },
  {
    seed: 910525,
    knobs: 'order=shuffled total=page unlistedIds=2 readOne=405 mass=both',
    taught: 'where pages count their own rows, counts that differ do not say that the list changed',
  },
  {
    seed: 2000113,
    knobs:
      'pageZero=first perPage=all pastEnd=last order=updated_newest listDeleted=shown visStateFilter=ignored filterForm=plain listLag=4 readLag=2 readDeleted=404 visState=text serviceTime=local required=name_language_currency createStatus=201 gatewayPath=system/gateways errorForm=html rateWindow=sliding deleteEvent=delete archiveEvent=none restoreEvent=create spacing=every extraParameter=present signAt=event disableAfter=3 handshakeForm=json handshakeSigned=no accountIds=roles fault:401=0.02 fault:429_date=0.02 fault:redirect=0.1 fault:reset=0.02 fault:truncated=0.1 fault:wrong_page=0.1 accounts=2 vendors=0 breaker=20 slow=lists changes=20 hot=yes writes=1 mass=delete_many outage=reset outageMinutes=6 crashOf=machine downtime=60 busy=3 full=1 late=0.2 repeat=0.3',
    taught: 'where lists show deleted vendors that no read by id finds, active ones show whether reads are answered',
  },
  {
    seed: 2000193,
    knobs:
      'pageZero=first perPage=ignored pastEnd=404 order=updated pages=one listDeleted=shown visStateFilter=ignored filterForm=plain listLag=2 readDeleted=404 values=strange serviceTime=local gatewayPath=systems/gateway deletedGateway=204 deletedCallback=204 gatewayScope=read errorForm=events rateWindow=sliding deleteEvent=both restoreEvent=none signatureHeader=X-FreshBooks-Hmac-SHA256 keyOrder=own escaping=utf8 code=any attempts=2 disabled=silent handshakeWhen=before resentCode=same wrongVerifier=unverified duplicate=second refuses=per_page refusal=501 brokenRows=one accountIds=roles fault:401=0.1 fault:errors_in_200=0.1 fault:redirect=0.02 fault:hang=0.02 fault:stall=0.02 fault:truncated=0.02 accounts=2 vendors=3 rows=3 extraWalks=never vendorsRate=60 latency=12000 minutes=8 hot=again bursts=30 writes=1 outage=401 outageMinutes=6 crashes=1 crashOf=machine downtime=60 restarts=1 stops=2 suspends=1 callbackLost=disabled busy=3 full=1 late=0.2',
    taught: 'nor do those deleted vendors say that no vendor is read by id',
  },
  {
    seed: 2000014,
    knobs:
      'pageZero=first pastEnd=404 order=shuffled unlistedIds=2 listDeleted=recent readOne=404 fault:401=0.02 fault:html=0.1 fault:stall=0.1 fault:truncated=0.02 fault:wrong_page=0.1 vendors=45 rows=15 concurrency=1 minutes=8 changes=20 hot=yes writes=3',
    taught: 'what a second sweep could not have shown is undecided, and a person asks again',
  },
  {
    seed: 7000000,
    knobs:
      'errorForm=object200 refuses=all refusal=500 fault:wrong_page=0.1 extraWalks=never latency=12000 minutes=8 outage=empty_list stops=2 suspends=1 vendors=3 changes=1',
    taught: 'vendors that only the question where pages count from was shown refute a list that came empty',
  },
  {
    seed: 9400184,
    knobs:
      'pageZero=first perPage=ignored order=shuffled total=counts_hidden unlistedIds=2 listArchived=hidden visStateFilter=ignored listLag=2 readLag=2 readOne=404 readDeleted=404 noteInList=yes listedField=tax_defaults visState=text serviceTime=local required=name_language_currency createStatus=202 gatewayPath=systems/gateway gatewayScope=read errorForm=rpc rateScope=account deleteEvent=none archiveEvent=delete restoreEvent=create signatureHeader=X-FreshBooks-Hmac-SHA256 keyOrder=sorted signAt=event disabled=silent handshakeForm=json handshakeSigned=no duplicate=second callbackKeys=callbackid refusal=html callbackTime=plain fault:401=0.1 fault:403=0.02 fault:429_date=0.02 fault:reset_after=0.02 fault:truncated=0.02 fault:wrong_page=0.1 rows=3 concurrency=1 vendorsRate=60 latency=4000 hot=yes outageMinutes=6 crashes=4 callbackLost=removed busy=3 lose=1 answersLost=0.2 forge=0.2',
    taught:
      'of two runs at once, the proof of an absence that ended first is the first, or an approved run concludes nothing',
  },
  {
    seed: 9500228,
    knobs:
      'pageZero=first perPage=all total=fewer listArchived=hidden resentCode=same fault:401=0.02 fault:redirect=0.1 fault:wrong_page=0.1 accounts=2 vendors=0 minutes=22 changes=6 mass=both crashes=4 late=0.2',
    taught:
      'a list of one state that is declined twice in succession may be so by accident, and may hold vendors that nobody knows of',
  },
  {
    seed: 9500071,
    knobs:
      'order=updated_newest unlistedIds=2 listedAs=constant listedField=outstanding_balance values=strange accounts=2 vendorsRate=60 minutes=10 hot=yes bursts=30 crashes=4 crashOf=machine jumps=2 vendors=1',
    taught: 'a vendor that no time of creation tells of, and that was not edited, has not entered the list',
  },
  {
    seed: 9900154,
    knobs:
      'paging=zero pastEnd=last total=page readOne=404 fault:403=0.02 fault:html=0.1 fault:reset=0.1 fault:reset_after=0.1 accounts=2 concurrency=1 changes=1',
    taught: 'page 0 that comes as the page of another server is not refused: the list may begin with it',
  },
  {
    seed: 9920413,
    knobs:
      'pageZero=first order=updated_newest total=counts_hidden pages=one filterForm=plain listLag=2 readLag=4 readDeleted=404 editState=all listedAs=constant listedField=note visState=text required=name createStatus=201 gatewayPath=system/gateways deletedGateway=204 gatewayScope=read errorForm=events rateScope=account rateWindow=sliding deleteEvent=none archiveEvent=none signatureHeader=X-FreshBooks-Hmac-SHA256 keyOrder=own signAt=event attempts=2 handshakeForm=json handshakeSigned=no wrongVerifier=unverified readCallback=405 duplicate=second callbackKeys=callbackid refusal=404 brokenRows=one fault:500=0.1 fault:503=0.1 fault:429_date=0.02 fault:hang=0.02 fault:reset=0.02 fault:truncated=0.02 accounts=2 vendors=45 rows=3 extraWalks=never breaker=20 minutes=10 hot=yes mass=delete_many outage=reset crashOf=machine downtime=60 restarts=1 busy=3 lose=1 answersLost=0.2',
    taught: 'where rows stand past the only page that is told, empty pages of hidden vendors are not its end',
  },
];

/** So many seeds, from 1 on, are simulated in each run of the tests. */
export const usualSeeds = 200;

/** Whether `simulation.test.ts` simulates this seed with these knobs, and expects that no promise breaks. */
export function runsWithoutFault(seed: number, knobs: string | undefined): boolean {
  return knobs === undefined
    ? seed <= usualSeeds
    : keptSeeds.some((kept) => kept.seed === seed && kept.knobs === knobs);
}
