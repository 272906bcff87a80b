// SPDX-License-Identifier: MIT
// node wasm.mjs MODULE: workers share the memory of wasm.c's module; each has an instance of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const WOKEN = 0, DIFFERS = 1, EXPIRED = 2, PAGE = 65536, ROUNDS = 10000;

// An instance for this thread, with a stack and thread variables of its own.
function enter(module, memory) {
    const wasi = {
        clock_time_get(clock, precision, at) {
            new DataView(memory.buffer).setBigUint64(at, process.hrtime.bigint(), true);
            return 0;
        },
        fd_filestat_get: () => 8, // no such file: the library reports nothing
        sched_yield: () => 0,
    };
    const absent = (name) => () => { throw new Error(`${name} is not here`); };
    const imports = {
        env: { memory },
        wasi_snapshot_preview1: new Proxy(wasi, { get: (all, name) => all[name] ?? absent(name) }),
    };
    const { exports } = new WebAssembly.Instance(module, imports);
    const base = memory.grow(2) * PAGE;
    exports.__wasm_init_tls(base);
    exports.__stack_pointer.value = base + 2 * PAGE;
    return exports;
}

function inWorker(shared, name, ...words) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(new URL(import.meta.url), {
            workerData: { ...shared, name, words },
        });
        worker.on("message", resolve);
        worker.on("error", reject);
    });
}

async function wake(exports, width, limit, wanted) {
    for (let woken = 0; woken < wanted; await sleep(1)) {
        const now = exports.wake_at(width, limit);
        assert.ok(now <= limit, `${now} woken in place of ${limit}`);
        woken += now;
    }
}

if (isMainThread) {
    const module = new WebAssembly.Module(readFileSync(process.argv[2]));
    const memory = new WebAssembly.Memory({ initial: 512, maximum: 4096, shared: true });
    const shared = { module, memory };
    const exports = enter(module, memory);
    exports._initialize();

    assert.equal(exports.sleep_for_a_while(), EXPIRED);
    assert.equal(exports.wait_for_another_value(), DIFFERS);
    for (const width of [8, 16, 32, 64]) {
        const sleepers = [1, 2, 3].map(() => inWorker(shared, "sleep_at", width));
        await wake(exports, width, 1, 1);
        await wake(exports, width, 3, 2);
        assert.deepEqual(await Promise.all(sleepers), [WOKEN, WOKEN, WOKEN]);
    }
    exports.hold();
    const counters = [1, 2, 3].map(() => inWorker(shared, "count_up"));
    await sleep(20);
    exports.drop();
    assert.equal(Math.max(...(await Promise.all(counters))), 3 * ROUNDS);
    console.log("1 passed, 0 failed");
} else {
    const { module, memory, name, words } = workerData;
    parentPort.postMessage(enter(module, memory)[name](...words));
}
