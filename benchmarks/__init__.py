"""Benchmarks: each prints tables of a page, in processor seconds unless they say otherwise."""

import multiprocessing
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from dp_topk import mechanisms
from tools import ROOT
from workflow.scripts.data.profiles import read_profile


def seconds(*calls, repeats=7, clock=time.process_time):
    """Median seconds of each call; one warm-up each, then the calls in turn."""
    times = []
    for _ in range(repeats + 1):
        times.append([])
        for call in calls:
            start = clock()
            call()
            times[-1].append(clock() - start)
    return [statistics.median(column) for column in zip(*times[1:], strict=True)]


def spent(by=resource.RUSAGE_SELF):
    """Seconds that this process, or its children that have ended, have used."""
    used = resource.getrusage(by)
    return used.ru_utime + used.ru_stime


def peak_mb(of=resource.RUSAGE_SELF):
    """The most memory that this process, or any child that has ended, has held."""
    return resource.getrusage(of).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def apart(function, *arguments):
    """The answer of a function in a fresh process, whose memory and seconds are its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def embedded(dataset):
    return mechanisms.Profile(*read_profile(ROOT / f"data/embedded/{dataset}.csv"))
