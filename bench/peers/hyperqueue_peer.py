"""HyperQueue from its Python package: a server and one worker of two cores in this process, an array of `true`."""

import json
import os
import time

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

# Its client looks once a second whether they are done, so there are enough of them that this hardly counts.
count = 5 * int(os.environ["PROCESSES"])


def run(client, programs):
    job = Job()
    for _ in range(programs):
        job.program(["true"], stdout=None, stderr=None)
    began = time.monotonic()
    client.wait_for_jobs([client.submit(job)])
    return time.monotonic() - began


began = time.monotonic()
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=2))
    client = cluster.client()
    run(client, 1)
    start = time.monotonic() - began
    took = run(client, count)
    print(
        json.dumps(
            {
                "peer": "HyperQueue",
                "process": count / took,
                "start": start,
                "note": f"{count:,} of them, one worker of 2 cores, output thrown away, no journal; it has no tasks but processes",
            }
        )
    )
