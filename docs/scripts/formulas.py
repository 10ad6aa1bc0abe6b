"""The formula of every measure, in LaTeX, by the measure's name.

NOTATION explains the symbols. A name that trec_eval and ir_measures share has one formula.
"""

from __future__ import annotations

NOTATION = r"""
Formulas give the value of one query, unless they mention all queries.

| symbol | meaning |
|---|---|
| $n$ | number of documents retrieved |
| $R$, $N$ | number of relevant and of judged nonrelevant documents in the qrels |
| $r_i$ | 1 if the grade of the document at rank $i$ is at least the relevance level, else 0 |
| $h_k$ | $\sum_{i \le \min(k, n)} r_i$, the number of relevant documents in the first $k$ ranks |
| $P_k$ | $h_k / k$, precision at rank $k$ |
| $s_i$ | rank of the $i$-th relevant document retrieved |
| $g_i$ | gain of the document at rank $i$: by default its grade, 0 if it is unjudged |
| $g^*_i$ | gains of all judged documents, largest first; $G$ of them are positive |
| $\mathrm{DCG}_k$, $\mathrm{DCG}^*_k$ | [discounted gain](#dcg), and the best possible one |
| $u_i$ | 1 if the document at rank $i$ is unjudged, else 0 |
| $k$, $c$, $p$, $x$ | parameters of the measure |
| $Q$, $J$, $\lvert C \rvert$ | numbers of queries, judgment groups, and documents |
"""

DCG = r"\mathrm{DCG}_k = \sum_{i=1}^{\min(k, n)} \frac{g_i}{\log_2(i + 1)}"
IDEAL = r"\mathrm{DCG}^*_k = \sum_{i=1}^{\min(k, G)} \frac{g^*_i}{\log_2(i + 1)}"
NDCG = r"\frac{\mathrm{DCG}_n}{\mathrm{DCG}^*_G}"
NDCG_CUT = r"\frac{\mathrm{DCG}_k}{\mathrm{DCG}^*_k}"
AP = r"\frac{1}{R} \sum_{i=1}^{n} r_i P_i"
AP_CUT = r"\frac{1}{R} \sum_{i=1}^{\min(k, n)} r_i P_i"
F = r"\frac{(x + 1)\, p\, q}{x p + q}, \quad p = \frac{h_n}{n}, \; q = \frac{h_n}{R}"
INTERPOLATED = (
    r"\max_{i \,:\, h_i \ge t} P_i, \quad t = \lfloor c R + 0.9 \rfloor",
    r"\text{trec\_eval 10.0: } t = \lfloor c R + 0.5 \rfloor",
)
RPREC_MULT = r"\frac{h_m}{m}, \quad m = \lfloor c R + 0.9 \rfloor"
AUC = (
    r"\mathrm{AUC} = \frac{1}{h_n (n - h_n)} \sum_{i, j \,:\, r_i = 1, r_j = 0} \left([x_i > x_j] +"
    r" \tfrac{1}{2} [x_i = x_j]\right), \quad x_i: \text{ score of the document at rank } i"
)
SIMPLE = r"\frac{\text{fulfilled}}{\text{possible}}"
MEAN_OF_GROUPS = r"\frac{1}{J} \sum_{j=1}^{J} \frac{\text{fulfilled}_j}{\text{possible}_j}"
MEAN_OF_PAIRS = (
    r"\frac{1}{\text{pairs}} \sum_{\text{pairs } a, b}"
    r" \frac{\text{fulfilled}_{ab}}{\text{possible}_{ab}}"
)
CWL = r"\frac{\sum_i W_i\, g_i}{\sum_i W_i}, \quad W_i = \prod_{j < i} C_j, \quad C_i = %s"
GAIN = (
    r"g_i = \frac{\min(\max(\text{grade}_i, \text{min\_rel}), \text{max\_rel}) -"
    r" \text{min\_rel}}{\text{max\_rel} - \text{min\_rel}}"
)
STRATA = (
    r"\text{stratum } c: N_c \text{ documents}, m_c \text{ of them sampled}, R_c \text{ of these"
    r" relevant}; \; \hat R = \sum_c R_c N_c / m_c; \; \text{of the first depth documents, } D_c"
    r" \text{ are in } c, \mu_c \text{ of them sampled}, \rho_c \text{ of these relevant}"
)
ESTIMATED = r"\sum_c D_c \frac{\rho_c + 10^{-5}}{\mu_c + 3 \cdot 10^{-5}}"
SUBTOPICS = (
    r"r_{i, s} = 1 \text{ if the document at rank } i \text{ is relevant to subtopic } s,"
    r" \text{ else } 0; \; M \text{ subtopics have a relevant document}"
)
ADDED = r"a_i = \sum_s r_{i, s} (1 - \alpha)^{\sum_{j < i} r_{j, s}}"
BEST = (
    r"\frac{\sum_{i=1}^{\min(k, n)} a_i\, d_i}{\sum_{i=1}^{k} M (1 - \alpha)^{i-1} d_i}, \quad"
    r" d_i = %s"
)
IDEAL_ADDED = (
    r"\frac{\sum_{i=1}^{\min(k, n)} a_i\, d_i}{\sum_{i=1}^{k} a^*_i\, d_i}, \quad d_i = %s, \;"
    r" a^*_i: \text{the same of the ideal ranking}"
)
LOGARITHMIC, RECIPROCAL = r"\frac{1}{\log_2(i + 1)}", r"\frac{1}{i}"
# Computed over queries, instead of a mean.
GEOMETRIC = r"\exp \Big( \frac{1}{Q} \sum_{q=1}^{Q} \ln \max(%s_q, 0.00001) \Big)"

FORMULAS: dict[str, tuple[str, ...]] = {
    "num_q": ("Q",),
    "num_ret": ("n",),
    "num_rel": ("R",),
    "num_rel_ret": ("h_n",),
    "map": (AP,),
    "gm_map": (GEOMETRIC % r"\mathrm{AP}",),
    "Rprec": (r"\frac{h_R}{R}",),
    "bpref": (
        r"\frac{1}{R} \sum_{i=1}^{n} r_i \Big( 1 -"
        r" \frac{\min(\text{judged nonrelevant above } i,\; R)}{\min(N, R)} \Big)",
    ),
    "recip_rank": (r"\frac{1}{s_1}",),
    "iprec_at_recall": INTERPOLATED,
    "P": (r"P_k = \frac{h_k}{k}",),
    "recall": (r"\frac{h_k}{R}",),
    "infAP": (
        r"\frac{1}{R} \sum_{i=1}^{n} r_i \Big( \frac{1}{i} + \frac{i - 1}{i} \cdot"
        r" \frac{a_i + b_i + c_i}{i - 1} \cdot \frac{a_i + \epsilon}{a_i + b_i + 2 \epsilon} \Big)",
        r"a_i, b_i, c_i: \text{ relevant, nonrelevant, and pooled but unjudged documents above }"
        r" i, \quad \epsilon = 0.00001",
    ),
    "gm_bpref": (GEOMETRIC % r"\mathrm{bpref}",),
    "Rprec_mult": (RPREC_MULT,),
    "utility": (r"a\, h_n + b\, (n - h_n) + c\, (R - h_n) + d\, (\lvert C \rvert - n - R + h_n)",),
    "11pt_avg": (
        r"\frac{1}{|L|} \sum_{c \in L} \max_{i \,:\, h_i \ge t_c} P_i, \quad"
        r" t_c = \lfloor c R + 0.9 \rfloor",
        r"\text{trec\_eval 10.0: } t_c = \lfloor c R + 0.5 \rfloor",
    ),
    "binG": (r"\frac{1}{R} \sum_{i=1}^{n} \frac{r_i}{\log_2(2 + i - 1 - h_{i - 1})}",),
    "G": (
        r"\frac{1}{\sum_j g^*_j} \sum_{i=1}^{n} \frac{g_i}"
        r"{\log_2 \big( 2 + \sum_{j \le i} (\max(1, g^*_j) - g_j) \big)}",
    ),
    "dcg": (DCG, r"k = n"),
    "ideal_dcg": (IDEAL, r"k = G"),
    "ndcg": (NDCG, DCG, IDEAL),
    "ndcg_rel": (
        r"\frac{1}{G} \Big( \sum_{i \,:\, g_i > 0} \frac{\mathrm{DCG}_i}{\mathrm{DCG}^*_i}"
        r" + m\, \frac{\mathrm{DCG}_n}{\mathrm{DCG}^*_G} \Big), \quad"
        r" m \text{ of the } G \text{ documents are not retrieved}",
    ),
    "Rndcg": (
        r"\frac{1}{|D|} \sum_{k \in D} \frac{\mathrm{DCG}_k}{\mathrm{DCG}^*_k}, \quad"
        r" D = \{ k : g^*_{k + 1} < g^*_k \}",
        r"\text{and, if } n > G + 1, \text{ one more point: } " + NDCG,
    ),
    "ndcg_cut": (NDCG_CUT,),
    "map_cut": (AP_CUT,),
    "relative_P": (r"\frac{h_k}{\min(k, R)}",),
    "success": (r"\min(1, h_k)",),
    "set_P": (r"\frac{h_n}{n}",),
    "set_relative_P": (r"\frac{h_n}{\min(n, R)}",),
    "set_recall": (r"\frac{h_n}{R}",),
    "set_map": (r"\frac{h_n^2}{n R}",),
    "set_F": (F,),
    "num_nonrel_judged_ret": (r"\sum_{i=1}^{n} (1 - r_i) (1 - u_i)",),
    "prefs_num_prefs_poss": (r"\text{possible}",),
    "prefs_num_prefs_ful": (r"\text{fulfilled}",),
    "prefs_num_prefs_ful_ret": (r"\text{fulfilled, both documents retrieved}",),
    "prefs_simp": (SIMPLE,),
    "prefs_simp_ret": (SIMPLE,),
    "prefs_simp_imp": (SIMPLE,),
    "prefs_pair": (MEAN_OF_PAIRS,),
    "prefs_pair_ret": (MEAN_OF_PAIRS,),
    "prefs_pair_imp": (MEAN_OF_PAIRS,),
    "prefs_avgjg": (MEAN_OF_GROUPS,),
    "prefs_avgjg_ret": (MEAN_OF_GROUPS,),
    "prefs_avgjg_imp": (MEAN_OF_GROUPS,),
    "prefs_avgjg_Rnonrel": (MEAN_OF_GROUPS,),
    "prefs_avgjg_Rnonrel_ret": (MEAN_OF_GROUPS,),
    "map_avgjg": (r"\frac{1}{J} \sum_{j=1}^{J} \mathrm{AP}_j",),
    "P_avgjg": (r"\frac{1}{J} \sum_{j=1}^{J} P_{k, j}",),
    "Rprec_mult_avgjg": (r"\frac{1}{J} \sum_{j=1}^{J} \frac{h_{m_j, j}}{m_j}",),
    "yaap": (r"\ln \frac{1 + S}{1 + R - S}, \quad S = \sum_{i=1}^{n} r_i P_i",),
    "rbp": (r"(1 - p) \sum_{i=1}^{n} g_i\, p^{i - 1}",),
    "rbp_resid": (
        r"p^n + (1 - p) \sum_{i=1}^{n} u_i\, p^{i - 1}, \text{ or 0 if all } u_i \text{ are 0}",
    ),
    "unj": (r"\frac{1}{k} \sum_{i=1}^{\min(k, n)} u_i",),
    "NumQ": ("Q",),
    "NumRet": ("n",),
    "NumRel": ("R",),
    "NumRelRet": ("h_n",),
    "AP": (
        AP_CUT,
        r"\text{denominator=min\_k: } \frac{1}{\min(k, R)} \sum_{i=1}^{\min(k, n)} r_i P_i, \quad"
        r" \text{relevant\_retrieved: } \frac{1}{h_k} \sum_{i=1}^{\min(k, n)} r_i P_i",
    ),
    "Bpref": (
        r"\frac{1}{R} \sum_{i=1}^{n} r_i \Big( 1 -"
        r" \frac{\min(\text{judged nonrelevant above } i,\; R)}{\min(N, R)} \Big)",
    ),
    "RR": (r"\frac{1}{s_1} \text{ if } s_1 \le k, \text{ else } 0",),
    "ReciprocalHitRank": (r"\frac{1}{h_k} \sum_{i=1}^{h_k} \frac{1}{s_i}",),
    "IPrec": INTERPOLATED,
    "R": (r"\frac{h_k}{R}",),
    "RCap": (r"\frac{h_k}{\min(k, R)}",),
    "Success": (r"\min(1, h_k)",),
    "HitRatio": (
        r"\frac{h_k}{R}",
        r"\text{average=micro, denominator=relevant\_retrieved, over queries } q: \quad"
        r" \frac{\sum_q h_{k, q}}{\sum_q h_{n, q}}",
    ),
    "DCG": (
        r"\sum_{i=1}^{\min(k, n)} \frac{g_i}{\log_2 (i + 1)}",
        r"\text{dcg=exp-log2: } g_i = 2^{\text{grade}} - 1",
    ),
    "nDCG": (
        NDCG_CUT,
        r"\text{dcg=exp-log2: } g_i = 2^{\text{grade}} - 1",
        r"\text{ideal=retrieved: } g^*_i \text{ are the gains of the retrieved documents,"
        r" largest first}",
        r"\text{ideal=max: } g^*_i \text{ is the gain of max\_grade, at all } k \text{ ranks}",
    ),
    "nCG": (r"\frac{\sum_{i=1}^{\min(k, n)} g_i}{\sum_{i=1}^{\min(k, G)} g^*_i}",),
    "Q": (
        r"\frac{1}{\min(G, k)} \sum_{i=1}^{\min(k, n)} b_i\,"
        r" \frac{\sum_{j \le i} b_j + x \sum_{j \le i} g_j}{i + x \sum_{j \le i} g^*_j}, \quad"
        r" b_i = 1 \text{ if } g_i > 0, \text{ else } 0, \; x = \text{beta}",
    ),
    "Compat": (
        r"\frac{\mathrm{RBO}(A, I)}{\mathrm{RBO}(I, I)}, \quad \mathrm{RBO}(A, I) ="
        r" \frac{\sum_{i=1}^{k} p^{i-1}\, \lvert A_{1..i} \cap I_{1..i} \rvert / i}"
        r"{\sum_{i=1}^{k} p^{i-1}}, \quad k = \max(\lvert A \rvert, \lvert I \rvert)"
        r" \text{ or depth}",
        r"A: \text{the ranking}, \; I: \text{the documents with a positive grade, largest first,}"
        r" \text{ in the order of } A \text{ where equal}",
        r"\text{normalize=False: } \mathrm{RBO}(A, I)",
    ),
    "SDCG": (
        CWL % r"\frac{\log_2(i + 1)}{\log_2(i + 2)} \text{ for } i < k, \text{ else } 0",
        GAIN,
    ),
    "BPM": (
        CWL % r"1 \text{ for } i < k \text{ and } \sum_{j \le i} g_j < T, \text{ else } 0",
        GAIN,
    ),
    "INSQ": (CWL % r"\Big( \frac{i + 2T - 1}{i + 2T} \Big)^2", GAIN),
    "INST": (
        CWL
        % (
            r"\Big( \frac{i + T + T_i - 1}{i + T + T_i} \Big)^2, \quad"
            r" T_i = T - \sum_{j \le i} g_j"
        ),
        GAIN,
    ),
    "NERR8": (CWL % r"1 - g_i \text{ for } i < k, \text{ else } 0", GAIN),
    "NERR9": (CWL % r"\frac{i}{i + 1} (1 - g_i) \text{ for } i < k, \text{ else } 0", GAIN),
    "NERR10": (CWL % r"p\, (1 - g_i)", GAIN),
    "NERR11": (CWL % r"(1 - g_i) \Big( \frac{i + 2T - 1}{i + 2T} \Big)^2", GAIN),
    "xinfAP": (
        r"\frac{1}{\hat R} \sum_c \frac{N_c}{m_c} S_c, \quad S_c = \sum_{i : r_i = 1, c_i = c}"
        r" \Big( \frac{1}{i} + \frac{1}{i} \sum_{d} D_d"
        r" \frac{\rho_d + 10^{-5}}{\mu_d + 3 \cdot 10^{-5}} \Big)",
        r"\text{with } D, \mu \text{ and } \rho \text{ of the documents before rank } i",
        STRATA,
    ),
    "infNDCG": (
        r"\frac{1}{\mathrm{DCG}^*} \sum_c \frac{D_c}{\mu_c} \sum_{i : c_i = c, g_i > 0}"
        r" \frac{g_i}{\log_2(i + 1)}",
        r"\mathrm{DCG}^*\text{: of } \lfloor \sum_c m_{c,g} N_c / m_c + 0.5 \rfloor \text{"
        r" documents of each grade } g, \text{ largest first, with } m_{c,g} \text{ sampled ones}",
        STRATA,
    ),
    "iP": (r"\frac{1}{k} " + ESTIMATED, STRATA),
    "iNumRel": (r"\hat R", STRATA),
    "iNumRelRet": (ESTIMATED, STRATA),
    "ERR": (
        r"\sum_{i=1}^{\min(k, n)} \frac{1}{i}\, t_i \prod_{j < i} (1 - t_j), \quad"
        r" t_i = \frac{2^{\text{grade}_i} - 1}{2^{\text{max\_grade}}}",
    ),
    "RBP": (
        r"(1 - p) \sum_{i=1}^{\min(k, n)} r_i\, p^{i - 1}",
        r"\text{gain=graded or raw: } (1 - p) \sum_{i=1}^{\min(k, n)} g_i\, p^{i - 1}",
        r"\text{residual=True: } (1 - p) \sum_{i=1}^{\min(k, n)} u_i\, p^{i - 1} +"
        r" p^{\min(k, n)}, \quad u_i = 1 \text{ if unjudged, else } 0",
    ),
    "SetP": (r"\frac{h_n}{n}", r"\text{relative=True: } \frac{h_n}{\min(n, R)}"),
    "SetR": (r"\frac{h_n}{R}",),
    "SetAP": (r"\frac{h_n^2}{n R}",),
    "SetF": (F, r"x = \text{beta}"),
    "F1": (
        r"\frac{2\, P_k\, \rho_k}{P_k + \rho_k}, \quad \rho_k = \frac{h_k}{R}, \quad"
        r" k = n \text{ without a cutoff}",
    ),
    "alpha_DCG": (BEST % LOGARITHMIC, ADDED, SUBTOPICS),
    "alpha_nDCG": (IDEAL_ADDED % LOGARITHMIC, ADDED, SUBTOPICS),
    "ERR_IA": (BEST % RECIPROCAL, ADDED, SUBTOPICS),
    "nERR_IA": (IDEAL_ADDED % RECIPROCAL, ADDED, SUBTOPICS),
    "NRBP": (
        r"\frac{1 - (1 - \alpha) \beta}{M} \sum_{i=1}^{n} a_i\, \beta^{i-1}",
        ADDED,
        SUBTOPICS,
    ),
    "nNRBP": (
        r"\frac{\sum_{i=1}^{n} a_i\, \beta^{i-1}}{\sum_i a^*_i\, \beta^{i-1}}, \quad"
        r" a^*_i: \text{the same of the ideal ranking}",
        ADDED,
        SUBTOPICS,
    ),
    "AP_IA": (
        r"\frac{1}{M} \sum_s \frac{1}{R_s} \sum_{i=1}^{n} r_{i, s}"
        r" \frac{\sum_{j \le i} r_{j, s}}{i}, \quad R_s \text{ documents are relevant to } s",
        SUBTOPICS,
    ),
    "P_IA": (r"\frac{1}{k M} \sum_{i=1}^{\min(k, n)} \sum_s r_{i, s}", SUBTOPICS),
    "StRecall": (r"\frac{1}{M} \sum_s \max_{i \le \min(k, n)} r_{i, s}", SUBTOPICS),
    "PairAccuracy": (r"1 - \frac{\sum_{i=1}^{h_k} (s_i - i)}{h_k (\min(k, n) - h_k)}",),
    "AUC": (AUC,),
    "GAUC": (
        r"\frac{\sum_q w_q\, \mathrm{AUC}_q}{\sum_q w_q}, \quad w_q = n_q, \text{ or with"
        r" weight=relevant: } h_{n, q}",
        AUC,
    ),
    "PercentileRank": (
        r"\frac{1}{h_n} \sum_{i=1}^{h_n} \frac{s_i - 1}{n - 1}",
        r"\text{denominator=retrieved: } \frac{s_i}{n} \text{ instead}, \quad"
        r" \text{relevant: } \frac{s_i}{R}, \quad \text{index: } \frac{s_i - 1}{n}",
        r"\text{average=micro, over queries } q: \quad"
        r" \frac{\sum_q \sum_i (s_{i, q} - 1) / (n_q - 1)}{\sum_q h_{n, q}}",
    ),
    "MedianRank": ("s_1",),
    "FirstRank": ("s_1",),
    "Judged": (
        r"\frac{1}{\min(k, n)} \sum_{i=1}^{\min(k, n)} (1 - u_i)",
        r"\text{denominator=k: } \frac{1}{k} \sum_{i=1}^{\min(k, n)} (1 - u_i)",
    ),
    "Unjudged": (
        r"\frac{1}{\min(k, n)} \sum_{i=1}^{\min(k, n)} u_i",
        r"\text{denominator=k: } \frac{1}{k} \sum_{i=1}^{\min(k, n)} u_i",
    ),
    "Hole": (
        r"\frac{1}{k} \sum_{i=1}^{\min(k, n)} v_i, \quad"
        r" v_i = 1 \text{ if the document at rank } i \text{ is judged for no query, else } 0",
    ),
}
