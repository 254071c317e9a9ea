"""The experiments of the paper. Where its scripts have other parameters, the paper's apply.

References
----------
K. Miller, J. Calder, Poisson reweighted Laplacian uncertainty sampling for graph-based active
learning, SIAM J. Math. Data Sci. 2023; the scripts are those of millerk22/rwll_active_learning.
"""

from dataclasses import replace

from poise import Geometric
from poise.active.policies.proportional import Proportional
from poise.errors import InputError
from poise.experiments.experiment import CHOOSING, Experiment, Method
from poise.registry import known_name

TAU = 1e-3
#: Questions per trial with ``--quick`` on the data sets of tens of thousands of points.
QUICK_BUDGET = 60
QUICK_TRIALS = 3

#: Groups of methods, each a set of curves: the paper's methods; its policies; poise's default with
#: its strongest rivals, and other methods that the paper leaves out; V-Opt and Sigma-Opt on 500
#: random candidates as in the paper, which take hours.
PAPER, POLICIES, RIVALS, OTHERS, SUBSETS = "paper", "policies", "rivals", "others", "subsets"


def uncertainty(K: int) -> tuple[Method, ...]:
    """The paper's own methods and its references; `K` sets how fast tau decays."""
    return (
        Method("norm", "norm", TAU, title="Norm", group=PAPER),
        Method("norm-decay", "norm", Geometric(K=K), title="Norm, τ → 0", group=PAPER),
        Method("sm", "margin", 0.0, title="SM", group=PAPER),
        Method("random", "random", 0.0, title="Random", group=PAPER),
    )


#: V-Opt and Sigma-Opt do not use scores; their own model, PWLL, only serves the evaluation.
VOPT = Method("vopt", "vopt", 0.0, title="V-Opt, all points", group=RIVALS)
#: On small data sets the paper and its scripts invert a perturbed Laplacian: answers are noisy.
SMALL_VOPT = Method("vopt", {"name": "vopt", "model": "soft"}, 0.0, title="V-Opt", group=PAPER)
SMALL_SIGMAOPT = Method(
    "sigmaopt", {"name": "sigmaopt", "model": "soft"}, 0.0, title="Sigma-Opt", group=PAPER
)


def truncated(acquisition: str, title: str, normalisation: str = "normalised") -> Method:
    """A criterion on 100 eigenpairs with noisy answers, as in the scripts."""
    parameters = {"m": 100, "normalisation": normalisation, "model": "soft", "epsilon": 1e-11}
    name = f"{acquisition}-truncated"
    return Method(name, {"name": name, **parameters}, 0.0, title=title, group=PAPER)


TRUNCATED = (
    truncated("mcvopt", "MCV-Opt"),
    truncated("vopt", "V-Opt, truncated"),
    truncated("sigmaopt", "Sigma-Opt, truncated"),
)
SUBSET = (
    Method("vopt-subset", "vopt-subset", 0.0, title="V-Opt (Full), 500 points", group=SUBSETS),
    Method(
        "sigmaopt-subset",
        "sigmaopt-subset",
        0.0,
        title="Sigma-Opt (Full), 500 points",
        group=SUBSETS,
    ),
)
#: The default, and what comes closest to it in docs/label-efficiency.md.
SCORED_RIVALS = (
    Method("auto", "auto", title="auto", group=RIVALS),
    Method(
        "uncertainty-herding",
        "uncertainty-herding",
        0.0,
        title="Uncertainty herding",
        group=RIVALS,
    ),
)
#: Rivals that do not use scores.
BLIND_RIVALS = (
    Method("maxherding", "maxherding", 0.0, title="MaxHerding", group=RIVALS),
    Method("dial", "dial", 0.0, title="DiAL", group=RIVALS),
    Method("typiclust", "typiclust", 0.0, title="TypiClust", group=RIVALS),
    Method("probcover", "probcover", 0.0, title="ProbCover", group=RIVALS),
)
LEFT_OUT = (
    Method("land", "land", 0.0, title="LAND", group=OTHERS),
    Method("cal", "cal", 0.0, title="CAL", group=OTHERS),
    Method("s2", "s2", 0.0, title="S2", group=OTHERS),
    Method("coreset", "coreset", 0.0, title="Coreset", group=OTHERS),
)


def toy(name: str, K: int) -> Experiment:
    """Blobs or box: two dimensions, k = 100."""
    methods = (*uncertainty(K), SMALL_VOPT, *SCORED_RIVALS, *BLIND_RIVALS, *LEFT_OUT)
    return Experiment(name, name, methods, k=100)


def isolet() -> Experiment:
    """Spoken letters, from one label; measured in plain Laplace learning, as in the paper.

    Methods that do not use scores have Laplace learning as their own model, because with 26 classes
    each further model costs as much as all the rest.
    """
    laplace = {"model": "laplace"}
    norm, decaying, margin, random = uncertainty(50)
    methods = (
        norm,
        decaying,
        margin,
        Method("sm-laplace", "margin", 0.0, title="SM, in Laplace", group=PAPER, **laplace),
        truncated("mcvopt", "MCV-Opt", "combinatorial"),
        *(replace(m, **laplace) for m in (random, SMALL_VOPT, SMALL_SIGMAOPT)),
        *SCORED_RIVALS,
        *(replace(m, **laplace) for m in (*BLIND_RIVALS, *LEFT_OUT)),
    )
    return Experiment("isolet", "isolet", methods, k=5, initial=1, evaluate=(CHOOSING, "laplace"))


def large(
    name: str, data: str, K: int, clusters: int, *, budget: int = 100, policies: bool = False
) -> Experiment:
    """MNIST and similar data sets, embedded by the autoencoder, k = 20, one label per class."""
    methods = [*uncertainty(K), *TRUNCATED]
    if policies:
        for policy, chooser, title in (
            ("kde", "kde", "KDE"),
            ("proportional", Proportional(K=clusters), "proportional"),
        ):
            methods += [
                Method(
                    f"norm-{policy}", "norm", TAU, chooser, title=f"Norm, {title}", group=POLICIES
                ),
                Method(
                    f"norm-decay-{policy}",
                    "norm",
                    Geometric(K=K),
                    chooser,
                    title=f"Norm, τ → 0, {title}",
                    group=POLICIES,
                ),
            ]
    methods += [VOPT, *SCORED_RIVALS, *BLIND_RIVALS, *LEFT_OUT, *SUBSET]
    return Experiment(name, data, tuple(methods), embedding="vae", budget=budget)


def models() -> Experiment:
    """The same questions in every model: Laplace, Poisson, WNLL, properly weighted, PWLL."""
    evaluate = (CHOOSING, "pwll", "laplace", "poisson", "wnll", "properly-weighted")
    methods = tuple(m for m in uncertainty(50) if m.name in ("norm-decay", "random"))
    return Experiment("models", "isolet", methods, k=5, initial=1, evaluate=evaluate)


#: Every experiment of the paper and its supplement, in the paper's order.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        toy("blobs", K=8),
        toy("box", K=8),
        isolet(),
        large("mnist", "mnist-mod3", 20, 10, policies=True),
        large("fashionmnist", "fashionmnist-mod3", 20, 10, policies=True),
        large("emnist", "emnist-mod5", 94, 47, budget=400, policies=True),
        large("mnist-imb", "mnist-imb", 30, 10),
        large("fashionmnist-imb", "fashionmnist-imb", 30, 10),
        large("emnist-vcd", "emnist-vcd", 120, 47, budget=400),
        models(),
    )
}


def paper_model(experiment: Experiment) -> str:
    """The evaluation model in which the paper reports: Laplace learning on isolet, else PWLL."""
    wanted = "laplace" if experiment.name == "isolet" else "pwll"
    return wanted if wanted in experiment.evaluate else experiment.evaluate[0]


def chosen(names: tuple[str, ...], *, trials: int, quick: bool, subsets: bool) -> list[Experiment]:
    """The named experiments; no name or "all" means every one.

    `quick` allows at most `QUICK_TRIALS` trials, and `QUICK_BUDGET` questions on the large data
    sets. The forms on 500 candidates are included only with `subsets`.
    """
    if "all" in names and len(names) > 1:
        raise InputError(f"'all' means every figure: leave out {', '.join(set(names) - {'all'})}")
    wanted = list(EXPERIMENTS) if not names or names == ("all",) else list(dict.fromkeys(names))
    experiments = []
    for name in wanted:
        known_name("figure", name, [*EXPERIMENTS, "all"])
        experiment = EXPERIMENTS[name].with_trials(min(trials, QUICK_TRIALS) if quick else trials)
        if quick and experiment.embedding == "vae":
            experiment = replace(experiment, budget=QUICK_BUDGET)
        if not subsets:
            kept = tuple(m for m in experiment.methods if m.group != SUBSETS)
            experiment = replace(experiment, methods=kept)
        experiments.append(experiment)
    return experiments
