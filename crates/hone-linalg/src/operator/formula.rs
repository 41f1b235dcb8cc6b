//! Operators as formulas.

use super::{Operator, Scaled};

impl Operator {
    /// The formula, such as `diag(1) − diag(d^-1/2)·W³·diag(d^-1/2)`.
    pub fn formula(&self) -> String {
        match self {
            Operator::Sparse(leaf) => leaf.name.to_string(),
            Operator::Dense(leaf) => leaf.name.to_string(),
            Operator::Scaled(scaled) => scaled.formula(),
            Operator::Power(inner, k) if inner.is_leaf() => {
                format!("{}{}", inner.formula(), superscript(*k))
            }
            Operator::Power(inner, k) => format!("({}){}", inner.formula(), superscript(*k)),
            Operator::Sum(terms) => {
                let mut out = String::new();
                for (coefficient, term) in terms {
                    let open = matches!(
                        term,
                        Operator::Sum(_) | Operator::Scaled(Scaled { shift: Some(_), .. })
                    );
                    let body = if open {
                        format!("({})", term.formula())
                    } else {
                        term.formula()
                    };
                    push_term(&mut out, *coefficient, &body);
                }
                out
            }
        }
    }

    fn is_leaf(&self) -> bool {
        matches!(self, Operator::Sparse(_) | Operator::Dense(_))
    }
}

impl Scaled {
    fn formula(&self) -> String {
        let mut product: Vec<String> = Vec::new();
        product.extend(
            self.left
                .as_ref()
                .map(|left| format!("diag({})", left.name())),
        );
        let open = matches!(
            *self.inner,
            Operator::Sum(_) | Operator::Scaled(Scaled { shift: Some(_), .. })
        );
        let inner = self.inner.formula();
        product.push(if open { format!("({inner})") } else { inner });
        product.extend(
            self.right
                .as_ref()
                .map(|right| format!("diag({})", right.name())),
        );
        let mut out = self
            .shift
            .as_ref()
            .map_or(String::new(), |shift| format!("diag({})", shift.name()));
        push_term(&mut out, self.scale, &product.join("·"));
        out
    }
}

fn push_term(out: &mut String, coefficient: f64, body: &str) {
    let sign = if coefficient < 0.0 { "−" } else { "+" };
    match (out.is_empty(), sign) {
        (true, "+") => {}
        (true, _) => out.push('−'),
        (false, _) => out.push_str(&format!(" {sign} ")),
    }
    let size = coefficient.abs();
    if size != 1.0 {
        out.push_str(&format!("{}·", short(size)));
    }
    out.push_str(body);
}

/// A number with four significant digits, powers of two as such.
fn short(value: f64) -> String {
    let exponent = value.log2();
    if exponent.fract() == 0.0 && exponent.abs() > 3.0 {
        return format!("2^{exponent}");
    }
    if !(1e-4..1e6).contains(&value) {
        return format!("{value:.3e}");
    }
    let digits = (3 - value.log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

fn superscript(k: usize) -> String {
    k.to_string()
        .bytes()
        .map(|digit| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][(digit - b'0') as usize])
        .collect()
}
