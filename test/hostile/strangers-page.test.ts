/**
 * A page of a stranger, open in the browser in which an operator has the dashboard open, on the machine of a daemon and a sandbox. Whatever a page
 * can send it sends: it reads nothing, and nothing happens. A server without any defence shows that these are attacks.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { listen } from '../support/network/listen.ts';
import { launchChromium, missingChromium } from '../support/screen/chromium.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { callbacksPath, vendorsPath } from '../support/testbed/service.ts';
import { testbed } from '../support/testbed.ts';

const canary = 'Canary & Daughters';
const password = 'a-password-of-an-operator';

/** In the page: each resolves with what it read. */
const attacks = `
const quietly = async (attempt) => { try { return String(await attempt()); } catch { return ''; } };
const withElement = (name, fields) => new Promise((done) => {
  const element = Object.assign(document.createElement(name), fields);
  element.onload = () => done(element);
  element.onerror = () => done(undefined);
  document.body.append(element);
});
const inFrame = async (url) => (await withElement('iframe', { src: url }))?.contentDocument?.documentElement.textContent;
const inStyle = async (url) => {
  await withElement('link', { rel: 'stylesheet', href: url });
  return [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join();
};
const asEvents = (url) => new Promise((done) => {
  const events = new EventSource(url, { withCredentials: true });
  events.onmessage = ({ data }) => (events.close(), done(data));
  events.onerror = () => (events.close(), done(''));
});
const asSocket = (url) => new Promise((done) => {
  const socket = new WebSocket(url.replace('http', 'ws'));
  socket.onmessage = ({ data }) => done(data);
  socket.onclose = socket.onerror = () => done('');
});
const read = async (url, headers) => {
  const read = [
    await quietly(async () => (await fetch(url, { credentials: 'include' })).text()),
    await quietly(async () => (await fetch(url, { headers })).text()),
    await quietly(async () => (await fetch(url, { mode: 'no-cors', credentials: 'include' })).text()),
    await quietly(() => inFrame(url)),
    await quietly(() => inStyle(url)),
    await quietly(() => asEvents(url)),
    await quietly(() => asSocket(url)),
  ];
  await withElement('script', { src: url });
  await withElement('img', { src: url });
  return read;
};
const send = async (url, body, headers) => {
  const json = { 'content-type': 'application/json' };
  const all = { method: 'POST', body, credentials: 'include' };
  await quietly(() => fetch(url, { ...all, headers: json }));
  await quietly(() => fetch(url, { ...all, headers: { ...json, ...headers } }));
  await quietly(() => fetch(url, { ...all, mode: 'no-cors' }));
  for (const method of ['PUT', 'DELETE', 'PATCH']) await quietly(() => fetch(url, { ...all, method, headers }));
  navigator.sendBeacon(url, new Blob([body], { type: 'text/plain' }));
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const name = 'frame-' + enctype + Math.random();
    const form = Object.assign(document.createElement('form'), { action: url, method: 'POST', enctype, target: name });
    // As text/plain, name and value make a JSON document.
    form.append(Object.assign(document.createElement('input'), { name: body.slice(0, -1) + ',"x":"', value: '"}' }));
    const loaded = withElement('iframe', { name });
    document.body.append(form);
    await loaded;
    const sent = new Promise((done) => (frames[name].frameElement ?? document.getElementsByName(name)[0]).onload = done);
    form.submit();
    await sent;
  }
};
`;

interface Attack {
  /** To be read. */
  readonly reads: readonly string[];
  /** To be sent to. */
  readonly sends: readonly (readonly [url: string, body: string])[];
  readonly headers?: Readonly<Record<string, string>>;
}

describe.skipIf(isMissing(missingChromium))('L57 H6 a page of a stranger', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium([
      '--host-resolver-rules=MAP *.example 127.0.0.1',
      // Of pages elsewhere, newer versions ask first whether they may reach this machine.
      '--disable-features=LocalNetworkAccessChecks',
    ]);
  });
  afterAll(() => browser.close());

  async function context(): Promise<BrowserContext> {
    const opened = await browser.newContext({ httpCredentials: { username: 'operator', password } });
    onTestFinished(() => opened.close());
    return opened;
  }

  /** Attacks from a page at that address. @returns all that it read. */
  async function attacked(
    window: BrowserContext,
    page: string,
    { reads, sends, headers = {} }: Attack,
  ): Promise<string> {
    const tab = await window.newPage();
    // As of a name that led to the stranger's server when the page was loaded.
    await tab.route(page, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><body>' }));
    await tab.goto(page);
    const asked = JSON.stringify({ reads, sends, headers });
    const read = await tab.evaluate<string>(`(async ({ reads, sends, headers }) => {
      ${attacks}
      const found = [];
      for (const url of reads) found.push(...(await read(url, headers)));
      for (const [url, body] of sends) await send(url, body, headers);
      return JSON.stringify(found);
    })(${asked})`);
    await tab.close();
    return read;
  }

  it('reads and changes what has no defence', async () => {
    const sent: string[] = [];
    const port = await listen(
      createServer((request, response) => {
        const { origin = '*', accept = '' } = request.headers;
        const open = {
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-allow-methods': 'PUT, DELETE, PATCH',
          'content-type': accept.includes('event-stream') ? 'text/event-stream' : 'text/html',
        };
        if (request.method === 'OPTIONS') return void response.writeHead(204, open).end();
        void text(request).then((body) => {
          if (request.method !== 'GET')
            sent.push(`${request.method} ${request.headers['content-type']?.split(';')[0]} ${body}`);
          response.writeHead(200, open).end(`data: ${canary}\n\n`);
        });
      }),
    );
    const url = `http://127.0.0.1:${port}/`;
    const attack = {
      reads: [url],
      sends: [[url, '{"account":"6BApk"}']],
      headers: { authorization: 'Bearer x' },
    } as const;
    const read = await attacked(await context(), 'http://stranger.example:1/', attack);
    // By fetch, by fetch with a token, and as events.
    expect((JSON.parse(read) as string[]).filter((one) => one.includes(canary))).toHaveLength(3);
    const kinds = sent.map((one) => one.split(' ').slice(0, 2).join(' '));
    expect(new Set(kinds)).toEqual(
      new Set([
        'POST application/json',
        'POST text/plain',
        'PUT text/plain',
        'DELETE text/plain',
        'PATCH text/plain',
        'POST application/x-www-form-urlencoded',
        'POST multipart/form-data',
      ]),
    );
    expect(sent.some((one) => one.startsWith('POST text/plain {"account":"6BApk","x":"="}'))).toBe(true);
  });

  it.each([
    ['without', null],
    ['with', password],
  ])('reads nothing of a daemon %s a token and of a sandbox, and changes nothing there', async (_, token) => {
    const service = await testbed({ level: 'sandbox', vendors: 3 });
    const { sandbox, account, baseUrl } = service;
    const { vendorid } = sandbox.vendors(account).create({ vendor_name: canary });
    const at = await testbed({
      level: 'program',
      service,
      listens: true,
    });
    const settings = join(at.folder, 'mirror.yaml');
    if (token !== null)
      writeFileSync(settings, readFileSync(settings, 'utf8').replace('admin: {', `admin: { token: ${token},`));
    const daemon = await at.serveUntilSwept();
    const isQuiet = (): boolean =>
      sandbox
        .callbacks(account)
        .all()
        .every(({ verified }) => verified);
    await until(isQuiet);
    let arrived = 0;
    const inner = await listen(createServer((_, response) => void (arrived++, response.end())));

    const admin = `http://127.0.0.1:${at.adminPort}`;
    const listener = `http://127.0.0.1:${at.listenerPort}`;
    const window = await context();
    const own = await window.newPage();
    await own.goto(`${admin}/api/vendors`);
    expect(await own.content()).toContain('Canary');

    const state = (): unknown => ({
      vendors: sandbox.vendors(account).all(),
      callbacks: sandbox.callbacks(account).all(),
      runs: at.query('SELECT count(*) AS n FROM runs'),
      deliveries: at.query('SELECT count(*) AS n FROM deliveries'),
    });
    const before = structuredClone(state());
    const callback = JSON.stringify({ callback: { event: 'bill_vendor', uri: `http://127.0.0.1:${inner}/` } });
    const allowed = [
      [`${baseUrl}${vendorsPath}`, JSON.stringify({ bill_vendor: { vendor_name: 'By a stranger', language: 'en' } })],
      [`${baseUrl}${vendorsPath}/${String(vendorid)}`, JSON.stringify({ bill_vendor: { city: 'Elsewhere' } })],
      [`${baseUrl}${callbacksPath}`, callback],
    ] as const;
    const attack: Attack = {
      reads: [
        ...['/', '/api/status', '/api/vendors', '/api/changes?follow=true', '/metrics'].map((path) => admin + path),
        ...[vendorsPath, callbacksPath].map((path) => baseUrl + path),
      ],
      sends: [
        [`${admin}/api/actions/sync`, '{"account":"6BApk"}'],
        ...allowed,
        [`${listener}/webhooks/${account}/guessed`, 'name=bill_vendor.update&object_id=1'],
      ],
      // The worst: the page knows the token of the sandbox.
      headers: { authorization: `Bearer ${service.token}` },
    };
    for (const page of [
      'http://stranger.example:1/',
      'https://stranger.example/',
      'http://127.0.0.1:1/page',
      'http://localhost:1/',
      `http://rebound.example:${at.adminPort}/page`,
      `http://rebound.example:${new URL(baseUrl).port}/page`,
    ]) {
      const { host, port } = new URL(page);
      // Of a rebound name, requests to that name are of the same origin.
      const moved = (url: string): string =>
        host.startsWith('rebound') && new URL(url).port === port ? url.replace('127.0.0.1', 'rebound.example') : url;
      const read = await attacked(window, page, {
        ...attack,
        reads: attack.reads.map(moved),
        sends: attack.sends.map(([url, body]) => [moved(url), body]),
      });
      expect([page, read.includes('Canary'), read.includes('6BApk')]).toEqual([page, false, false]);
    }
    expect(state()).toEqual(before);
    expect(arrived).toBe(0);

    const asked = await window.request.post(`${admin}/api/actions/sync`, { data: { account } });
    expect(asked.status()).toBe(token === null ? 403 : 202);
    if (token !== null) await daemon.logged('"msg":"pull complete"');
    expect(await daemon.end()).toBe(0);
    // From no page, the same is done.
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
    for (const [url, body] of allowed) {
      const method = url.endsWith(String(vendorid)) ? 'PUT' : 'POST';
      expect([url, (await fetch(url, { method, headers, body })).status]).toEqual([url, 200]);
    }
  });
});
