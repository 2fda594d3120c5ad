"""Celery with Redis as broker and result store, two processes: no-op tasks, processes, and latency."""

import json
import os
import subprocess
import sys
import time

from celery import Celery
from celery.result import ResultSet

url = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}/0"
app = Celery("celery_peer", broker=url, backend=url)
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=64, result_expires=600, broker_connection_retry_on_startup=True)


@app.task(name="noop")
def noop():
    return None


@app.task(name="process")
def process():
    return subprocess.run(["true"], check=True).returncode


@app.task(name="stamp")
def stamp():
    return time.time()


def rate(task, count):
    began = time.monotonic()
    results = ResultSet([task.delay() for _ in range(count)])
    results.join(timeout=600)
    return count / (time.monotonic() - began)


def main():
    began = time.monotonic()
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "celery_peer", "worker", "--concurrency", "2", "--loglevel", "ERROR", "-n", "bench"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        noop.delay().get(timeout=60)
        start = time.monotonic() - began
        # A tenth of the jobs is enough at this rate.
        noops = rate(noop, max(int(os.environ["JOBS"]) // 10, 100))
        processes = rate(process, max(int(os.environ["PROCESSES"]) // 2, 50))
        delays = []
        for _ in range(200):
            sent = time.time()
            delays.append((stamp.delay().get(timeout=60) - sent) * 1000)
            time.sleep(0.005)
        delays.sort()
        print(
            json.dumps(
                {
                    "peer": "Celery + Redis",
                    "noop": noops,
                    "process": processes,
                    "p50": delays[len(delays) // 2],
                    "p99": delays[int(len(delays) * 0.99)],
                    "start": start,
                    "note": "2 processes, results kept, appendfsync always",
                }
            )
        )
    finally:
        worker.terminate()
        worker.wait()


if __name__ == "__main__":
    # The worker imports this file as a module: the tasks must be the same ones.
    import celery_peer

    celery_peer.main()
