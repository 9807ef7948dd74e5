/**
 * A fault that is planted in the program: an export of one of its modules, a function or a class's method, gives way to a replacement
 * that may call the original. Both are checked against the module's types: what is renamed there does not compile here.
 */
import type * as sendOnce from '../../../src/api/caller.ts';
import type * as rateLimiter from '../../../src/api/http/rate-limiter.ts';
import type * as vendorPages from '../../../src/api/wire/vendor-pages.ts';
import type * as acceptance from '../../../src/store/acceptance.ts';
import type * as confirmations from '../../../src/store/page-confirmations.ts';
import type * as sqliteDeliveries from '../../../src/store/deliveries.ts';
import type * as history from '../../../src/store/history.ts';
import type * as marks from '../../../src/store/marks.ts';
import type * as details from '../../../src/store/details.ts';
import type * as laggingCopies from '../../../src/store/lagging-copies.ts';
import type * as rateLedger from '../../../src/store/rate-ledger.ts';
import type * as readingCounter from '../../../src/store/reading-counter.ts';
import type * as sqliteDatabase from '../../../src/store/sqlite/database.ts';
import type * as postgresDatabase from '../../../src/store/postgres/database.ts';
import type * as childRows from '../../../src/store/vendors.ts';
import type * as presence from '../../../src/domain/presence.ts';
import type * as vendor from '../../../src/domain/vendor.ts';
import type * as verifier from '../../../src/domain/verifier.ts';
import type * as sqliteQueue from '../../../src/store/queue.ts';
import type * as absences from '../../../src/sync/absences.ts';
import type * as breaker from '../../../src/sync/breaker.ts';
import type * as classifyChange from '../../../src/sync/observation.ts';
import type * as attempt from '../../../src/sync/attempt.ts';
import type * as markPolicy from '../../../src/domain/retry.ts';
import type * as worker from '../../../src/sync/worker.ts';
import type * as resolve from '../../../src/sync/resolve.ts';
import type * as runService from '../../../src/sync/run-service.ts';
import type * as listOrder from '../../../src/sync/sweep/list-order.ts';
import type * as passes from '../../../src/sync/sweep/passes.ts';
import type * as walk from '../../../src/sync/sweep/walk.ts';
import type * as windowChain from '../../../src/sync/sweep/window-chain.ts';
import type * as createVendor from '../../../src/sync/write/create.ts';
import type * as editVendor from '../../../src/sync/write/edit.ts';
import type * as currentVendor from '../../../src/sync/write/answer.ts';
import type * as address from '../../../src/webhook/address.ts';
import type * as deliveryReceiver from '../../../src/webhook/delivery-receiver.ts';
import type * as signature from '../../../src/webhook/delivery.ts';
import type * as reconciler from '../../../src/webhook/reconciler.ts';

/** The modules in which faults are planted, by their paths below `src/`. */
interface Modules {
  'api/caller.ts': typeof sendOnce;
  'api/http/rate-limiter.ts': typeof rateLimiter;
  'api/wire/vendor-pages.ts': typeof vendorPages;
  'store/acceptance.ts': typeof acceptance;
  'store/page-confirmations.ts': typeof confirmations;
  'store/deliveries.ts': typeof sqliteDeliveries;
  'store/details.ts': typeof details;
  'store/history.ts': typeof history;
  'store/lagging-copies.ts': typeof laggingCopies;
  'store/marks.ts': typeof marks;
  'store/rate-ledger.ts': typeof rateLedger;
  'store/reading-counter.ts': typeof readingCounter;
  'store/sqlite/database.ts': typeof sqliteDatabase;
  'store/postgres/database.ts': typeof postgresDatabase;
  'store/vendors.ts': typeof childRows;
  'domain/presence.ts': typeof presence;
  'domain/vendor.ts': typeof vendor;
  'domain/verifier.ts': typeof verifier;
  'store/queue.ts': typeof sqliteQueue;
  'sync/absences.ts': typeof absences;
  'sync/breaker.ts': typeof breaker;
  'sync/observation.ts': typeof classifyChange;
  'sync/attempt.ts': typeof attempt;
  'domain/retry.ts': typeof markPolicy;
  'sync/worker.ts': typeof worker;
  'sync/resolve.ts': typeof resolve;
  'sync/run-service.ts': typeof runService;
  'sync/sweep/list-order.ts': typeof listOrder;
  'sync/sweep/passes.ts': typeof passes;
  'sync/sweep/walk.ts': typeof walk;
  'sync/sweep/window-chain.ts': typeof windowChain;
  'sync/write/create.ts': typeof createVendor;
  'sync/write/edit.ts': typeof editVendor;
  'sync/write/answer.ts': typeof currentVendor;
  'webhook/address.ts': typeof address;
  'webhook/delivery-receiver.ts': typeof deliveryReceiver;
  'webhook/delivery.ts': typeof signature;
  'webhook/reconciler.ts': typeof reconciler;
}

type AnyFunction = (...args: never) => unknown;
type MethodsOf<Instance> = {
  [Name in keyof Instance]: Instance[Name] extends AnyFunction ? Name : never;
}[keyof Instance] &
  string;

/** The names of a module's functions, and of its classes' methods, as `Class.method`. */
type ExportsOf<Module> = {
  [Name in keyof Module & string]: Module[Name] extends AnyFunction
    ? Name
    : Module[Name] extends { readonly prototype: infer Instance }
      ? `${Name}.${MethodsOf<Instance>}`
      : never;
}[keyof Module & string];

/** The function, or the method with its `this`, of that name. */
type ExportOf<Module, Name> = Name extends `${infer Class}.${infer Method}`
  ? Class extends keyof Module
    ? Module[Class] extends { readonly prototype: infer Instance }
      ? Method extends keyof Instance
        ? MethodOf<Instance, Instance[Method]>
        : never
      : never
    : never
  : Name extends keyof Module
    ? Module[Name]
    : never;
type MethodOf<Instance, Method> = Method extends (...args: infer Args) => infer Result
  ? (this: Instance, ...args: Args) => Result
  : never;

/** One export that gives way. */
export interface Replacement {
  readonly module: keyof Modules;
  /** A function, or `Class.method`. */
  readonly name: string;
  readonly replace: (original: never) => unknown;
}

export interface PlantedFault {
  readonly name: string;
  readonly replacements: readonly Replacement[];
}

/** In place of an export, what `replace` makes of it. */
export function replacing<Path extends keyof Modules, Name extends ExportsOf<Modules[Path]>>(
  module: Path,
  name: Name,
  replace: (original: ExportOf<Modules[Path], Name>) => ExportOf<Modules[Path], Name>,
): Replacement {
  return { module, name, replace };
}

/**
 * Loads a module of the tests, and with it the program, anew and with a fault. `list` is the address of the module that exports the fault
 * among its `plantedFaults`: the loader (.config/typescript-loader.js) takes the replacements from there.
 */
export async function loadWith<Module>(
  address: URL,
  { name, replacements }: PlantedFault,
  list: string,
): Promise<Module> {
  const targets = replacements.map((replacement) => ({ module: replacement.module, name: replacement.name }));
  const planted = new URL(address);
  planted.searchParams.set('planted', JSON.stringify({ list, fault: name, targets }));
  return (await import(planted.href)) as Module;
}
