//! The built-in functions that exist here.
//!
//! A budget of steps does not see what happens within a built-in. So the only built-ins here are
//! those whose work is in proportion to their arguments, for which calls added by `instrument` pay,
//! and those that are written here and pay for their own work.

use super::budget::{self, Meter};
use super::exact::{first_rounded, is_rounded, not_exact};
use super::patterns;
use anyhow::{Result, bail};
use regorus::{Engine, Value};

type Function = fn(&mut Meter, &[Value]) -> Result<Value>;

/// The cost of a built-in.
#[derive(Clone, Copy)]
pub(super) enum Cost {
    /// Free: it takes no longer for large values than for small ones.
    Flat,
    /// By its arguments: it reads all of them, and its result is not larger than they are.
    Arguments,
    /// It pays for its own work.
    Own(Function),
}

/// A built-in.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) arguments: u8,
    pub(super) cost: Cost,
}

macro_rules! builtins {
    ($($name:literal $arguments:literal $cost:ident $(($function:ident))?)*) => {
        &[$(Builtin { name: $name, arguments: $arguments, cost: Cost::$cost $(($function))? },)*]
    };
}

/// Every built-in that exists here, sorted by name.
pub(super) const BUILTINS: &[Builtin] = builtins! {
    "abs" 1 Arguments
    "array.concat" 2 Arguments
    "array.reverse" 1 Arguments
    "array.slice" 3 Arguments
    "bits.and" 2 Arguments
    "bits.negate" 1 Arguments
    "bits.or" 2 Arguments
    "bits.xor" 2 Arguments
    "ceil" 1 Arguments
    "concat" 2 Own(concat)
    "contains" 2 Arguments
    "count" 1 Arguments
    "endswith" 2 Arguments
    "floor" 1 Arguments
    "format_int" 2 Arguments
    "indexof" 2 Arguments
    "intersection" 1 Arguments
    "is_array" 1 Flat
    "is_boolean" 1 Flat
    "is_null" 1 Flat
    "is_number" 1 Flat
    "is_object" 1 Flat
    "is_set" 1 Flat
    "is_string" 1 Flat
    "json.filter" 2 Arguments
    "json.is_valid" 1 Arguments
    "json.marshal" 1 Arguments
    "json.remove" 2 Arguments
    "json.unmarshal" 1 Own(json_unmarshal)
    "lower" 1 Arguments
    "max" 1 Arguments
    "min" 1 Arguments
    "numbers.range" 2 Own(numbers_range)
    "object.filter" 2 Arguments
    "object.get" 3 Flat
    "object.keys" 1 Arguments
    "object.remove" 2 Arguments
    "object.subset" 2 Arguments
    "object.union" 2 Arguments
    "object.union_n" 1 Arguments
    "regex.is_valid" 1 Own(regex_is_valid)
    "regex.match" 2 Own(regex_match)
    "replace" 3 Own(replace)
    "round" 1 Arguments
    "sort" 1 Arguments
    "split" 2 Own(split)
    "sprintf" 2 Arguments
    "startswith" 2 Arguments
    "strings.any_prefix_match" 2 Own(any_prefix_match)
    "strings.any_suffix_match" 2 Own(any_suffix_match)
    "strings.reverse" 1 Arguments
    "substring" 3 Arguments
    "sum" 1 Arguments
    "to_number" 1 Own(to_number)
    "trim" 2 Arguments
    "trim_left" 2 Arguments
    "trim_prefix" 2 Arguments
    "trim_right" 2 Arguments
    "trim_space" 1 Arguments
    "trim_suffix" 2 Arguments
    "type_name" 1 Flat
    "union" 1 Arguments
    "upper" 1 Arguments
};

/// Returns the built-in of a name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    let at = BUILTINS.binary_search_by(|builtin| builtin.name.cmp(name));
    at.ok().map(|at| &BUILTINS[at])
}

/// Returns the reason why a built-in of other evaluators does not exist here.
pub(super) fn absence(name: &str) -> Option<&'static str> {
    let family = name.split('.').next().unwrap_or(name);
    match family {
        "time" => Some("there is no clock: take the time from `input.context`"),
        "rand" | "uuid" => Some("there is no randomness: a verdict must be repeatable"),
        "http" | "net" => Some("there is no network: take what the policy needs from `input`"),
        "opa" | "rego" => Some("there is no environment: take what the policy needs from `input`"),
        "crypto" | "io" | "providers" | "graphql" => {
            Some("there are no keys, certificates and tokens here")
        }
        "json" | "yaml" | "base64" | "base64url" | "urlquery" | "hex" | "glob" | "graph"
        | "regex" | "strings" | "bits" | "numbers" | "units" | "semver" | "array" | "object"
        | "walk" | "product" | "indexof_n" | "trace" | "any" | "all" | "cast_array" => {
            Some("see the reference of policies for the built-ins that exist here")
        }
        _ => None,
    }
}

/// The functions that `instrument` calls. The tokenizer refuses these names in a policy.
pub(super) mod added {
    /// Pays for a value, and returns it.
    pub(in super::super) const PAY: &str = "__pay";
    /// Pays for a member of a set or a key of an object, and returns it.
    pub(in super::super) const KEY: &str = "__key";
    /// Pays for a collection that is searched, which is free for a set, and returns it.
    pub(in super::super) const LOOK: &str = "__look";
    /// Pays for a value, and holds.
    pub(in super::super) const PAID: &str = "__paid";
    /// Records that a body held, and holds.
    pub(in super::super) const HELD: &str = "__held";
    /// The beginning of the names of values that are moved out of `with`.
    pub(in super::super) const WITH: &str = "__with";
}

/// Gives an evaluator the built-ins that are written here. It refuses calls with another number of
/// arguments than the one here, so that a function may index its arguments.
pub(super) fn install(engine: &mut Engine) -> Result<()> {
    let added: [(&str, Function); 5] = [
        (added::PAY, pay),
        (added::KEY, key),
        (added::LOOK, look),
        (added::PAID, paid),
        (added::HELD, held),
    ];
    let own = BUILTINS.iter().filter_map(|builtin| match builtin.cost {
        Cost::Own(function) => Some((builtin.name, builtin.arguments, function)),
        _ => None,
    });
    let added = added.map(|(name, function)| (name, 1, function));
    for (name, arguments, function) in added.into_iter().chain(own) {
        engine.add_extension(
            name.to_owned(),
            arguments,
            Box::new(move |arguments: Vec<Value>| {
                budget::with(|meter| function(meter, &arguments))
            }),
        )?;
    }
    Ok(())
}

fn pay(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    meter.pay_value(&arguments[0])?;
    Ok(arguments[0].clone())
}

fn key(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    meter.pay_key(&arguments[0])?;
    Ok(arguments[0].clone())
}

fn look(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    match &arguments[0] {
        set @ Value::Set(_) => Ok(set.clone()),
        _ => pay(meter, arguments),
    }
}

fn paid(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    pay(meter, arguments)?;
    Ok(Value::from(true))
}

fn held(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    meter.held.insert(arguments[0].as_u32()?);
    Ok(Value::from(true))
}

/// Returns an argument that must be a string, after it pays for it.
fn text<'v>(
    meter: &mut Meter,
    function: &str,
    arguments: &'v [Value],
    at: usize,
) -> Result<&'v str> {
    let Value::String(text) = &arguments[at] else {
        let (number, kind) = (at + 1, kind(&arguments[at]));
        bail!("`{function}` takes a string as argument {number}, not {kind}");
    };
    pay_string(meter, text.len())?;
    Ok(text)
}

/// Returns the strings of an array or a set, after it pays for them; or one string, where a
/// built-in takes either.
fn texts<'v>(
    meter: &mut Meter,
    function: &str,
    value: &'v Value,
    one: bool,
) -> Result<Vec<&'v str>> {
    meter.pay_value(value)?;
    let items: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Set(items) => items.iter().collect(),
        Value::String(_) if one => vec![value],
        other => bail!("`{function}` takes a list of strings, not {}", kind(other)),
    };
    let texts = items.into_iter().map(|item| match item {
        Value::String(text) => Ok(&**text),
        other => {
            let kind = kind(other);
            bail!("`{function}` takes a list of strings, and an item is {kind}")
        }
    });
    texts.collect()
}

/// Returns the name of the type of a value, with an article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Set(_) => "a set",
        Value::Object(_) => "an object",
        Value::Undefined => "nothing",
    }
}

/// Pays for a string before it is built.
fn pay_string(meter: &mut Meter, length: usize) -> Result<()> {
    meter.pay(1 + length as u64 / 8)
}

fn concat(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let between = text(meter, "concat", arguments, 0)?;
    let parts = texts(meter, "concat", &arguments[1], false)?;
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = length.saturating_add(between.len().saturating_mul(parts.len()));
    pay_string(meter, length)?;
    Ok(Value::from(parts.join(between)))
}

fn replace(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let of = text(meter, "replace", arguments, 0)?;
    let old = text(meter, "replace", arguments, 1)?;
    let new = text(meter, "replace", arguments, 2)?;
    let length = of.matches(old).count().saturating_mul(new.len());
    pay_string(meter, length.saturating_add(of.len()))?;
    Ok(Value::from(of.replace(old, new)))
}

fn split(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let of = text(meter, "split", arguments, 0)?;
    let by = text(meter, "split", arguments, 1)?;
    if by.is_empty() {
        meter.pay(4 * of.len() as u64)?;
        let parts: Vec<_> = of.chars().map(|c| Value::from(c.to_string())).collect();
        return Ok(Value::from(parts));
    }
    meter.pay(4 * of.matches(by).count() as u64)?;
    let parts: Vec<_> = of.split(by).map(Value::from).collect();
    Ok(Value::from(parts))
}

fn any_match(
    meter: &mut Meter,
    function: &str,
    arguments: &[Value],
    matches: impl Fn(&str, &str) -> bool,
) -> Result<Value> {
    let of = texts(meter, function, &arguments[0], true)?;
    let with = texts(meter, function, &arguments[1], true)?;
    let length: usize = with.iter().map(|text| 1 + text.len() / 8).sum();
    let comparisons = (of.len() as u64).saturating_mul(length as u64);
    meter.pay(comparisons)?;
    let mut pairs = of
        .iter()
        .flat_map(|of| with.iter().map(move |with| (of, with)));
    Ok(Value::from(pairs.any(|(of, with)| matches(of, with))))
}

fn any_prefix_match(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let name = "strings.any_prefix_match";
    any_match(meter, name, arguments, |of, with| of.starts_with(with))
}

fn any_suffix_match(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let name = "strings.any_suffix_match";
    any_match(meter, name, arguments, |of, with| of.ends_with(with))
}

fn numbers_range(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let (Ok(from), Ok(to)) = (arguments[0].as_i64(), arguments[1].as_i64()) else {
        bail!("`numbers.range` takes two whole numbers");
    };
    let count = from.abs_diff(to).saturating_add(1);
    meter.pay(count)?;
    let numbers: Vec<Value> = if from <= to {
        (from..=to).map(Value::from).collect()
    } else {
        (to..=from).rev().map(Value::from).collect()
    };
    Ok(Value::from(numbers))
}

fn json_unmarshal(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let json = text(meter, "json.unmarshal", arguments, 0)?;
    // Each value of a list takes two bytes of text.
    meter.pay(json.len() as u64 / 2)?;
    if let Some(number) = first_rounded(json) {
        bail!("{}", not_exact(number));
    }
    match Value::from_json_str(json) {
        Ok(value) => pay(meter, &[value]),
        Err(_) => bail!("`json.unmarshal` takes a string of JSON, and this is not JSON"),
    }
}

fn to_number(_: &mut Meter, arguments: &[Value]) -> Result<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::from(0_u64)),
        Value::Bool(value) => Ok(Value::from(u64::from(*value))),
        Value::Number(_) => Ok(arguments[0].clone()),
        Value::String(text) if text.len() <= 64 && is_rounded(text) => bail!("{}", not_exact(text)),
        Value::String(text) if text.len() <= 64 => match Value::from_numeric_string(text) {
            Ok(number) => Ok(number),
            Err(_) => bail!("`to_number` takes a string with a number, and this is not a number"),
        },
        other => bail!("`to_number` can't take {} of this size", kind(other)),
    }
}

fn regex_match(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    let pattern = text(meter, "regex.match", arguments, 0)?;
    let of = text(meter, "regex.match", arguments, 1)?;
    patterns::is_match(meter, pattern, of).map(Value::from)
}

fn regex_is_valid(meter: &mut Meter, arguments: &[Value]) -> Result<Value> {
    if !matches!(arguments[0], Value::String(_)) {
        return Ok(Value::from(false));
    }
    let pattern = text(meter, "regex.is_valid", arguments, 0)?;
    Ok(Value::from(patterns::is_valid(meter, pattern)?))
}
