"""Evaluations over data that is not part of the project: `python -m tests.evals NAME --data …`."""

import argparse
import sys

from domain.errors import InvalidInput, ReverieError
from infra.run.cli.output import FAILED, INVALID, err
from tests.evals import clusters, locomo, same_entity

EVALS = {
    "clusters": (clusters.add_arguments, clusters.run),
    "locomo": (locomo.add_arguments, locomo.run),
    "same_entity": (same_entity.add_arguments, same_entity.run),
}


def main() -> int:
    """Run one evaluation; the exit code, 2 for missing or wrong arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.evals")
    names = parser.add_subparsers(dest="name", required=True)
    for name, (add_arguments, _) in EVALS.items():
        add_arguments(names.add_parser(name))
    arguments = parser.parse_args()
    try:
        return EVALS[arguments.name][1](arguments)
    except InvalidInput as error:
        err.print(error.message, markup=False)
        return INVALID
    except ReverieError as error:
        err.print(error.message, markup=False)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
