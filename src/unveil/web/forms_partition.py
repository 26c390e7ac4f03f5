"""The form for what an adversary thinks belongs together."""

from collections.abc import Mapping

from unveil.web.fields import MORE, Field, Form, column_name, limits_field, seed_field


def _meanings() -> Mapping[str, str]:
    from unveil.ask.partition.view import QUANTITIES

    return QUANTITIES


PARTITION = Form(
    question="partition",
    title="Groups an adversary has made",
    lead="How well is each person hidden in what an adversary thinks belongs together?",
    fields=(
        Field(
            name="truth",
            label="What truly belongs together",
            kind="table",
            help="Two columns, item and cluster: which item (a purchase, a record) belongs to which person.",
            required=True,
        ),
        Field(
            name="guesses",
            label="What the adversary thinks",
            kind="tables",
            help="The same two columns for the same items. An adversary who is not sure has several such files.",
            required=True,
        ),
        Field(
            name="probabilities",
            label="Probability",
            kind="share",
            help="How likely the adversary thinks this one is, as 0.7 or 2/3; for all files or for none.",
            beside="guesses",
        ),
        Field(
            name="alpha",
            label="Alpha: how much missed items matter against foreign ones",
            kind="share",
            help="From 0 (only foreign ones matter) to 1 (only missed ones). The report has a slider for it too.",
            default="1/2",
            option="--alpha",
        ),
        Field(
            name="beta",
            label="Beta: the share of a person's items that must not get linked",
            kind="share",
            help="From 0 to 1. The report has a slider for it too.",
            default="4/5",
            option="--beta",
        ),
        Field(
            name="contamination_desirable",
            label="People like foreign items in their group",
            kind="switch",
            default=False,
            fold=MORE,
            option="--contamination-desirable",
        ),
        Field(
            name="policy_file",
            label="What single people care about",
            kind="table",
            help="The columns subject and any of alpha, beta, contamination_desirable.",
            fold=MORE,
            option="--policy",
        ),
        Field(
            name="weights_file",
            label="How sensitive items are",
            kind="table",
            help="The columns item,weight or subject,item,weight; weights from 0 to 1.",
            fold=MORE,
            option="--weights",
        ),
        Field(
            name="norm",
            label="Shares are",
            kind="choice",
            choices=lambda: (("weight", "of weights"), ("literal", "of numbers of items")),
            default="weight",
            fold=MORE,
            option="--norm",
        ),
        Field(
            name="at_breach",
            label="Risk slope of somebody who is already linked",
            kind="choice",
            choices=lambda: (("nan", "undefined"), ("limit", "the limit of a vertical rise")),
            default="nan",
            fold=MORE,
            option="--at-breach",
        ),
        Field(
            name="overall_alpha",
            label="Alpha of the overall risk slope",
            kind="share",
            help="The mean over people unless given.",
            fold=MORE,
            option="--overall-alpha",
        ),
        Field(
            name="overall_beta",
            label="Beta of the overall risk slope",
            kind="share",
            help="The mean over people unless given.",
            fold=MORE,
            option="--overall-beta",
        ),
        column_name("item", "Column that names the items", "item"),
        column_name("cluster", "Column that names the groups", "cluster"),
        Field(
            name="drop_unmatched",
            label="Leave out items that are not in every file, instead of refusing",
            kind="switch",
            default=False,
            fold=MORE,
            option="--drop-unmatched",
        ),
        Field(
            name="adversary",
            label="Adversary of the example",
            kind="choice",
            choices=lambda: (("careful", "careful"), ("bold", "bold")),
            default="careful",
            help="Only for the example inside unveil.",
            fold=MORE,
        ),
        limits_field(),
        seed_field(),
    ),
    sample="A few shapes that belong to four people, and an adversary who has put some of them together.",
    command=("partition",),
    meanings=_meanings,
    of_sample={"beta": "9/10"},
)
