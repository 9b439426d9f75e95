"""``fanin cluster``: how to start a cluster for sweeps, and a check of one."""

from __future__ import annotations

from typing import Annotated

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import note, print_json, print_table


def cluster(
    address: Annotated[str, typer.Argument(help="Address of a Dask scheduler, such as tcp://host:8786.")],
    json: JsonOption = False,
) -> None:
    """Check a Dask cluster before running sweeps on it: workers, threads and versions.

    `fanin sweep ... --cluster ADDRESS` runs a sweep on it. The local machine and all workers need the same fanin, and
    Dask (`pip install 'dask[distributed]'`); other versions of fanin or of its engine are refused. Workers need no
    shared file system, except for files that a scenario names; files with different content are refused. Results are
    returned as runs finish. If a worker dies, other workers repeat the runs that it was working on.

    --json prints one object: {workers: [{worker, threads, fanin, engine}]}.

    **By hand**

    - on one machine: `dask scheduler`, which listens on port 8786
    - on every other machine: `dask worker tcp://host:8786 --nthreads 1 --nworkers 8`, for eight runs at once

    Start no more workers than the memory allows: a worker that runs out of memory is killed and restarted.

    **On Slurm**, with `pip install dask-jobqueue`, in a Python process that runs as long as the sweep:

    - `from dask_jobqueue import SLURMCluster`
    - `c = SLURMCluster(queue="normal", cores=8, processes=8, memory="16GB", walltime="04:00:00")`
    - `c.scale(jobs=10); print(c.scheduler_address)`, or `c.adapt(maximum_jobs=10)`, which also replaces jobs that end

    **On Kubernetes**, with an IMAGE that contains fanin and Dask:

    - `kubectl create deployment fanin-scheduler --image=IMAGE -- dask scheduler`
    - `kubectl expose deployment fanin-scheduler --port=8786`
    - `kubectl create deployment workers --image=IMAGE --replicas=9 -- dask worker fanin-scheduler:8786 --nthreads 1`
    - `kubectl port-forward service/fanin-scheduler 8786`, and then `--cluster tcp://localhost:8786`

    **Encryption**: use an address that starts with `tls://`, and configure Dask's certificates, for instance with
    `DASK_DISTRIBUTED__COMM__TLS__CA_FILE`, `..__TLS__CLIENT__CERT` and `..__TLS__CLIENT__KEY`.

    **Examples**

    - `fanin cluster tcp://host:8786`
    - `fanin sweep scenario.toml --seeds 1..100 --cluster tcp://host:8786`
    """
    from fanin.run.cluster import Cluster

    found = Cluster(address)
    try:
        threads = found.threads()
        workers = [
            {"worker": worker, "threads": threads.get(worker, 0), **vars(each)}
            for worker, each in found.workers().items()
        ]
    finally:
        found.close()
    if json:
        print_json({"workers": workers})
        return
    rows = [[str(value) for value in worker.values()] for worker in workers]
    print_table(f"{address}: {sum(threads.values())} runs at once", ["worker", "threads", "fanin", "engine"], rows)
    if not workers:
        note("no workers yet: start one with dask worker ADDRESS")
