"""The theorems in d dimensions: when an unexplored cluster is asked before known clusters.

The weight is ``gamma = 1 + dist(x, labels)^-alpha`` with ``alpha > d - 2``. One statement of the
paper is corrected: its upper-bound lemma omits the weight gamma in one term, so its bound is wrong;
see `explore_new_cluster`.
"""

import math

from poise.theory.statement import Bound, finite, require


def explore_new_cluster(
    *,
    tau: float,
    delta: float,
    s: float,
    R: float,
    alpha: float,
    d: int,
    roughness: float = 0.0,
    classes: int = 1,
) -> Bound:
    r"""Upper bound of the acquisition function on a cluster without a label (corrected).

    With :math:`\Gamma = 1 + R^{-\alpha}`, if

    .. math:: \sqrt{\tau/\delta} \ge 3 \sqrt\Gamma \left(\tfrac{d}{s} + 2 \|\nabla\log\rho\|\right)
              + 3 \alpha R^{-\alpha - 1} / \sqrt\Gamma

    then :math:`\sup_C A \le \sqrt{C} \exp(-\tfrac{s}{4} \sqrt{\tau / (\delta\Gamma)})`.

    Parameters
    ----------
    delta : largest density within 2s of the cluster, outside it
    s : half the thickness of that shell
    R : distance of the labels from the shell
    roughness : largest norm of the gradient of log rho there
    classes : number of classes C

    Notes
    -----
    The paper has :math:`\exp(-\tfrac{s}{4} \sqrt{\tau/\delta})` under
    :math:`\sqrt{\tau/\delta} \ge 3(d/s + 2\|\nabla\log\rho\|)\Gamma + 3R^{-\alpha-1}`. In its proof
    the term :math:`2\beta|x|^2` comes from :math:`\gamma\,\Delta v` and must carry gamma. With it,
    :math:`\beta = \sqrt{\tau/(\delta\Gamma)}/(3s)` makes :math:`e^{\beta|x|^2}` a supersolution:
    the two parts of :math:`2\beta\delta(\Gamma d + Ks + 2\beta\Gamma s^2)` are at most
    :math:`\tfrac{2}{9}\tau` and :math:`\tfrac{4}{9}\tau`. Also the gradient of gamma is at most
    :math:`\alpha R^{-\alpha-1}`.
    """
    _common(tau, alpha, d)
    for name, value in (("delta", delta), ("s", s), ("R", R)):
        require(finite(value) and value > 0, f"{name} > 0", name, value)
    require(finite(roughness) and roughness >= 0, "|grad log rho| >= 0", "roughness", roughness)
    require(classes >= 1, "one class or more", "classes", classes)
    Gamma = 1 + R**-alpha
    root = math.sqrt(Gamma)
    return Bound(
        "explore a new cluster",
        "sqrt(tau/delta) >= 3 sqrt(Gamma) (d/s + 2 |grad log rho|) "
        "+ 3 alpha R^(-alpha-1)/sqrt(Gamma)",
        math.sqrt(tau / delta),
        3 * root * (d / s + 2 * roughness) + 3 * alpha * R ** (-alpha - 1) / root,
        "sup A on the cluster <= sqrt(C) exp(-(s/4) sqrt(tau/(delta Gamma)))",
        math.sqrt(classes) * math.exp(-s / 4 * math.sqrt(tau / (delta * Gamma))),
    )


def explore_labels(
    *,
    tau: float,
    r: float,
    density: float,
    alpha: float,
    d: int,
    roughness: float = 0.0,
    separation: float = math.inf,
) -> list[Bound]:
    r"""Lower bound of the acquisition function within r of the labels: three conditions, one bound.

    .. math:: \inf_{L + B_r} A \ge 1 - 2^{-(\alpha + 2 - d)/2}

    if :math:`r \le \tfrac{1}{4}` of the classes' separation,
    :math:`\tau r^d \le (\alpha + 2 - d)^2 \inf\rho / (2^d 9)`, and
    :math:`4\|\nabla\log\rho\|(1 + (2r)^\alpha) r + \alpha (2r)^\alpha \le (\alpha+2-d)/4`.

    Parameters
    ----------
    density : smallest density within 2r of the classes
    roughness : largest norm of the gradient of log rho there
    separation : smallest distance of two classes
    """
    _common(tau, alpha, d)
    require(finite(r) and r > 0, "r > 0", "r", r)
    require(finite(density) and density > 0, "the density is positive", "density", density)
    require(finite(roughness) and roughness >= 0, "|grad log rho| >= 0", "roughness", roughness)
    require(separation > 0, "classes are apart", "separation", separation)
    excess = alpha + 2 - d
    bound = 1 - 2 ** (-excess / 2)
    conclusion = "inf A within r of the labels >= 1 - 2^(-(alpha+2-d)/2)"
    sides = (
        ("separation/4 >= r", separation / 4, r),
        ("(alpha+2-d)^2 rho/(9 2^d) >= tau r^d", excess**2 * density / (9 * 2**d), tau * r**d),
        (
            "(alpha+2-d)/4 >= 4 |grad log rho| (1 + (2r)^alpha) r + alpha (2r)^alpha",
            excess / 4,
            4 * roughness * (1 + (2 * r) ** alpha) * r + alpha * (2 * r) ** alpha,
        ),
    )
    return [
        Bound("explore around labels", condition, left, right, conclusion, bound)
        for condition, left, right in sides
    ]


def explored_before(
    *, tau: float, delta: float, s: float, R: float, alpha: float, d: int, classes: int
) -> Bound:
    """The remark's condition, with the corrected bound: the new cluster is asked first.

    ``sqrt(C) exp(-(s/4) sqrt(tau/(delta Gamma))) <= 1 - 2^(-(alpha+2-d)/2)``: when the conditions
    of both theorems hold too, a point of the unexplored cluster is asked before any within r of a
    label.
    """
    cluster = explore_new_cluster(tau=tau, delta=delta, s=s, R=R, alpha=alpha, d=d, classes=classes)
    floor = 1 - 2 ** (-(alpha + 2 - d) / 2)
    return Bound(
        "explored before",
        "1 - 2^(-(alpha+2-d)/2) >= sqrt(C) exp(-(s/4) sqrt(tau/(delta Gamma)))",
        floor,
        cluster.bound,
        "the unexplored cluster is asked before any point within r of a label",
        cluster.bound,
    )


def packing_number_bound(diameter: float, r: float, d: int) -> int:
    """Bound of the packing number M(., r/2): points at distance r in a set of a given diameter.

    Balls of radius r/2 around them are disjoint and lie in a ball of radius ``diameter + r/2``
    around one of them, so there are at most ``(1 + 2 diameter / r)^d``.
    """
    require(finite(diameter) and diameter >= 0, "a diameter is >= 0", "diameter", diameter)
    require(finite(r) and r > 0, "r > 0", "r", r)
    require(d >= 1, "d >= 1", "d", d)
    return math.floor((1 + 2 * diameter / r) ** d + 1e-9)


def _common(tau: float, alpha: float, d: int) -> None:
    require(finite(tau) and tau >= 0, "tau >= 0", "tau", tau)
    require(d >= 1, "d >= 1", "d", d)
    require(finite(alpha) and alpha > d - 2, "alpha > d - 2", "alpha", alpha)
    require(alpha > 0, "alpha > 0: gamma is singular at labels", "alpha", alpha)
