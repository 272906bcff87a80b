// SPDX-License-Identifier: MIT
// contexts.mjs THREADS SECONDS: TLS contexts with the bundle of CAs a second, in worker threads.
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { readFileSync } from "node:fs";
import tls from "node:tls";

if (isMainThread) {
  const [threads, seconds] = process.argv.slice(2).map(Number);
  let sum = 0;
  let ended = 0;
  for (let i = 0; i < threads; i++)
    new Worker(new URL(import.meta.url), { workerData: seconds }).on("message", (rate) => {
      sum += rate;
      if (++ended === threads) console.log(sum);
    });
} else {
  const ca = readFileSync("/etc/ssl/certs/ca-certificates.crt");
  const begin = performance.now();
  let made = 0;
  for (; performance.now() < begin + workerData * 1000; made++) tls.createSecureContext({ ca });
  parentPort.postMessage((made * 1000) / (performance.now() - begin));
}
