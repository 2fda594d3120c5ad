//! The interface as an OpenAPI 3.1 document, put together from what [`describe`](crate::describe) says.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hyper::Method;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathsBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{
    AdditionalProperties, AllOfBuilder, ComponentsBuilder, ObjectBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr,
    Required, Response, ResponseBuilder,
};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use windlass_rest::problem::{self, Problem, ProblemCode};
use windlass_rest::{JobState, Page, RunState, Time, workflows};

use crate::describe::{Answered, Operation, Says, TAGS, Takes, event_shapes, meaning, operations};
use crate::roles::Action;

/// Name of the one way to log in.
const BEARER: &str = "token";

/// What a name looks like.
pub const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";

/// The document as text. It is made once: nothing in it changes while the server runs.
pub static TEXT: LazyLock<String> =
    LazyLock::new(|| document().to_pretty_json().expect("a document has only texts for keys") + "\n");

/// The schema of something that is sent, and the schemas that it refers to.
pub struct Shape {
    schema: RefOr<Schema>,
    named: Vec<(String, RefOr<Schema>)>,
}

impl Shape {
    /// Text without more to say.
    pub fn text() -> Shape {
        Shape { schema: ObjectBuilder::new().schema_type(Type::String).into(), named: vec![] }
    }
}

/// Any JSON object.
#[derive(ToSchema)]
#[schema(value_type = Object)]
pub struct Anything(#[expect(dead_code, reason = "only its schema is wanted")] serde_json::Value);

/// The shape of a type.
pub fn shape<T: ToSchema>() -> Shape {
    let mut named = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut named);
    Shape { schema: Ref::from_schema_name(T::name()).into(), named }
}

/// The shape of a page of a list.
pub fn page<T: ToSchema>() -> Shape {
    let name = format!("{}Page", T::name());
    let mut named = shape::<T>().named;
    named.push((name.clone(), Page::<T>::schema()));
    Shape { schema: Ref::from_schema_name(name).into(), named }
}

/// What a query may have. What is absent is left out: no text means null.
pub fn parameters<T: IntoParams>() -> Vec<Parameter> {
    let mut parameters = T::into_params(|| Some(ParameterIn::Query));
    for parameter in &mut parameters {
        parameter.schema = parameter.schema.take().map(without_null);
    }
    parameters
}

/// Has a parameter that is text look like this.
pub fn with_pattern(parameter: &mut Parameter, pattern: &str) {
    if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema {
        object.pattern = Some(pattern.to_owned());
    }
}

fn without_null(schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Array(types) = &object.schema_type
                && let Some(kind) = types.iter().find(|kind| **kind != Type::Null)
            {
                object.schema_type = SchemaType::Type(kind.clone());
            }
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::OneOf(one_of)) => {
            let named = one_of.items.iter().find(|item| matches!(item, RefOr::Ref(_))).cloned();
            named.unwrap_or(RefOr::T(Schema::OneOf(one_of)))
        }
        other => other,
    }
}

/// The whole document.
fn document() -> OpenApi {
    let operations = operations();
    let mut schemas = BTreeMap::new();
    let shared = [shape::<Problem>(), shape::<Time>(), shape::<RunState>(), shape::<JobState>()];
    let shared = shared.into_iter().chain([shape::<workflows::Direction>()]).chain(event_shapes());
    for (name, schema) in shared
        .chain(operations.iter().flat_map(|operation| shapes(&operation.says)))
        .flat_map(|shape| shape.named)
    {
        schemas.insert(name, schema);
    }
    let login = SecurityScheme::Http(
        HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A secret of `windlass tokens create`. A server that listens on its own machine only may want none."))
            .build(),
    );
    let components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .responses_from_iter(refusals(&operations))
        .security_scheme(BEARER, login);
    let mut paths = PathsBuilder::new();
    for operation in &operations {
        paths = paths.path(operation.path, PathItem::new(http(&operation.method), described(operation)));
    }
    let tags = TAGS.iter().map(|(name, what)| TagBuilder::new().name(*name).description(Some(*what)).build());
    let info = InfoBuilder::new()
        .title("Windlass")
        .version("1")
        .description(Some(
            "Everything that can be asked of a master of a Windlass cluster. Bodies are JSON with names in snake_case, \
             moments RFC 3339 in UTC; lists come a page at a time; errors are RFC 9457 problems with stable codes. A \
             field is never renamed, and new ones may come.",
        ))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).identifier(Some(env!("CARGO_PKG_LICENSE"))).build()));
    OpenApiBuilder::new()
        .info(info.build())
        .paths(paths.build())
        .components(Some(components.build()))
        .tags(Some(tags.collect::<Vec<_>>()))
        .build()
}

fn shapes(says: &Says) -> Vec<Shape> {
    let body = match &says.body {
        Takes::Maybe(shape) | Takes::Json(shape) => Some(shape),
        Takes::Nothing | Takes::EmptyObject | Takes::Workflow => None,
    };
    let answers = says.answers.iter().flat_map(|answer| answer.content.iter().map(|(_, shape)| shape));
    body.into_iter()
        .chain(answers)
        .map(|shape| Shape { schema: shape.schema.clone(), named: shape.named.clone() })
        .collect()
}

fn described(operation: &Operation) -> OperationBuilder {
    let says = &operation.says;
    let mut built = OperationBuilder::new()
        .operation_id(Some(says.id))
        .tag(says.tag)
        .summary(Some(says.summary))
        .description(Some(says.more).filter(|more| !more.is_empty()));
    for part in operation.path.split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        built = built.parameter(in_path(name));
    }
    for parameter in &says.query {
        built = built.parameter(parameter.clone());
    }
    if says.key {
        let what = "1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks \
                    around them do not count.";
        let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(255));
        built = built.parameter(header("Idempotency-Key", what, schema.pattern(Some("^[!-~][\\t -~]*$"))));
    }
    if says.comes_back {
        let what = "The id of the last event that was seen, from a reader that comes back.";
        built =
            built.parameter(header("Last-Event-ID", what, ObjectBuilder::new().schema_type(Type::String)));
    }
    if !says.if_match.is_empty() {
        built = built.parameter(header("If-Match", says.if_match, tag()));
    }
    if says.only_new {
        let what = "`*`: store it only if there is no workflow of that name.";
        let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["*"]));
        built = built.parameter(header("If-None-Match", what, schema));
    }
    if says.unless_known {
        let what = "The ETag of what the caller has: if that is what there is, the answer is 304.";
        built = built.parameter(header("If-None-Match", what, tag()));
    }
    if operation.action != Action::Greet {
        // Which of the two a server wants depends on where it listens.
        built = built.security(SecurityRequirement::default());
        built = built.security(SecurityRequirement::new(BEARER, [] as [&str; 0]));
    }
    built = built.request_body(body(&says.body));
    for (status, response) in responses(operation) {
        built = built.response(status.to_string(), response);
    }
    built
}

/// The ETag of a definition, or `*` for any.
fn tag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(r#"^(\*|"v[0-9]{1,9}(\.disabled)?")$"#))
}

fn in_path(name: &str) -> Parameter {
    let text = || ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    let schema = match name {
        "job" | "attempt" | "version" => ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)),
        "workflow" | "pool" => text().pattern(Some(NAME)).max_length(Some(windlass_model::name::NAME_MAX)),
        _ => text(),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(meaning(name)))
        .schema(Some(schema))
        .build()
}

fn header(name: &str, what: &str, schema: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(what))
        .schema(Some(schema))
        .build()
}

fn body(takes: &Takes) -> Option<RequestBody> {
    let json = |shape: RefOr<Schema>, required| {
        let content = ContentBuilder::new().schema(Some(shape)).build();
        RequestBodyBuilder::new().content("application/json", content).required(Some(required)).build()
    };
    match takes {
        Takes::Nothing => None,
        Takes::EmptyObject => {
            let none =
                ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)));
            Some(json(none.into(), Required::False))
        }
        Takes::Maybe(shape) => Some(json(shape.schema.clone(), Required::False)),
        Takes::Json(shape) => Some(json(shape.schema.clone(), Required::True)),
        Takes::Workflow => {
            let object =
                ContentBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::Object))).build();
            let text = ContentBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(SchemaType::AnyValue)))
                .build();
            let body = RequestBodyBuilder::new()
                .description(Some("A workflow in the shape of a workflow file."))
                .content("application/json", object)
                .content("application/yaml", text);
            Some(body.required(Some(Required::True)).build())
        }
    }
}

/// Everything that a call can answer with, by status.
fn responses(operation: &Operation) -> BTreeMap<u16, RefOr<Response>> {
    let mut codes = by_status(operation);
    let mut responses = BTreeMap::new();
    for answer in &operation.says.answers {
        let problems = codes.remove(&answer.status).unwrap_or_default();
        responses.insert(answer.status, answered(answer, &problems).into());
    }
    for (status, codes) in codes {
        responses.insert(status, Ref::from_response_name(refused_name(&codes)).into());
    }
    responses
}

/// The codes that a call can answer with, by their status.
fn by_status(operation: &Operation) -> BTreeMap<u16, Vec<ProblemCode>> {
    let mut codes: BTreeMap<u16, Vec<ProblemCode>> = BTreeMap::new();
    for code in problems(operation) {
        let of_status = codes.entry(code.status()).or_default();
        if !of_status.contains(&code) {
            of_status.push(code);
        }
    }
    codes
}

/// The refusals of all calls by name. Most calls share most of them.
fn refusals(operations: &[Operation]) -> BTreeMap<String, Response> {
    let mut refusals = BTreeMap::new();
    for operation in operations {
        let answered = |status: &u16| operation.says.answers.iter().any(|answer| answer.status == *status);
        for (_, codes) in by_status(operation).into_iter().filter(|(status, _)| !answered(status)) {
            refusals.insert(refused_name(&codes), refused(&codes));
        }
    }
    refusals
}

fn refused_name(codes: &[ProblemCode]) -> String {
    codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join("_or_")
}

fn refused(codes: &[ProblemCode]) -> Response {
    let titles: Vec<_> = codes.iter().map(|code| code.title()).collect();
    let mut response = ResponseBuilder::new().description(sentence(&titles.join("; or ")));
    response = response.content(problem::CONTENT_TYPE, problem_of(codes).build());
    if codes.contains(&ProblemCode::Unavailable) {
        response = response.header("Retry-After", retry_after());
    }
    if codes.contains(&ProblemCode::Unauthenticated) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let what = "How to log in.";
        let header = HeaderBuilder::new().schema(Some(text)).description(Some(what)).build();
        response = response.header("WWW-Authenticate", header);
    }
    response.build()
}

fn answered(answer: &Answered, problems: &[ProblemCode]) -> Response {
    let mut response = ResponseBuilder::new().description(answer.what);
    for (kind, shape) in &answer.content {
        response = response.content(*kind, ContentBuilder::new().schema(Some(shape.schema.clone())).build());
    }
    if !problems.is_empty() {
        response = response.content(problem::CONTENT_TYPE, problem_of(problems).build());
    }
    if answer.retry_after {
        response = response.header("Retry-After", retry_after());
    }
    response.build()
}

/// The codes that a call can answer with: its own, and those of everything that it passes before.
fn problems(operation: &Operation) -> Vec<ProblemCode> {
    use ProblemCode as P;
    let mut codes = operation.says.problems.clone();
    codes.push(P::ForeignOrigin);
    if operation.path.contains('{') {
        codes.push(P::NotFound);
    }
    if operation.action != Action::Greet {
        codes.extend([P::BadRequest, P::Unauthenticated, P::Forbidden, P::Internal, P::Unavailable]);
    }
    if !matches!(operation.says.body, Takes::Nothing) {
        codes.extend([P::TooLarge, P::UnsupportedMediaType]);
    }
    codes.sort_by_key(|code| ProblemCode::ALL.iter().position(|known| known == code));
    codes
}

/// A problem with one of these codes.
fn problem_of(codes: &[ProblemCode]) -> ContentBuilder {
    let code = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(codes.iter().map(|code| code.as_str())));
    let narrowed = ObjectBuilder::new().schema_type(Type::Object).property("code", code);
    let both = AllOfBuilder::new().item(Ref::from_schema_name("Problem")).item(narrowed);
    ContentBuilder::new().schema(Some(both))
}

fn retry_after() -> Header {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
    HeaderBuilder::new()
        .schema(Some(seconds))
        .description(Some("Seconds until it is worth another try."))
        .build()
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn http(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_committed_document_is_this_one() {
        windlass_tests::pages::whole("openapi.json", &TEXT);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(&TEXT).unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 100, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
    }

    /// What is not said to be too large would be taken for allowed.
    #[test]
    fn numbers_of_32_bits_that_callers_send_have_an_end() {
        let document: Value = serde_json::from_str(&TEXT).unwrap();
        let mut sent = Vec::new();
        for operation in document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
        {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            sent.extend(parameters.map(|parameter| &parameter["schema"]));
            let bodies =
                operation["requestBody"]["content"].as_object().into_iter().flat_map(|kinds| kinds.values());
            sent.extend(bodies.map(|body| &body["schema"]));
        }
        let (mut seen, mut numbers) = (std::collections::BTreeSet::new(), 0);
        while let Some(schema) = sent.pop() {
            if let Some(reference) = schema["$ref"].as_str() {
                if seen.insert(reference) {
                    sent.push(document.pointer(reference.strip_prefix('#').unwrap()).unwrap());
                }
                continue;
            }
            if schema["format"] == "u-int32" {
                numbers += 1;
                assert!(schema["maximum"].is_number(), "{schema}");
            }
            match schema {
                Value::Object(fields) => sent.extend(fields.values()),
                Value::Array(items) => sent.extend(items),
                _ => {}
            }
        }
        assert!(numbers > 5, "only {numbers} were looked at");
    }

    #[test]
    fn words_are_spelt_as_they_are_sent() {
        let document: Value = serde_json::from_str(&TEXT).unwrap();
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["RunState"]["enum"], serde_json::json!(RunState::WORDS));
        assert_eq!(schemas["JobState"]["enum"], serde_json::json!(JobState::WORDS));
        assert_eq!(schemas["Severity"]["enum"], serde_json::json!(["error", "warning"]));
    }

    #[test]
    fn every_schema_is_used() {
        let document: Value = serde_json::from_str(&TEXT).unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        // Events are text to OpenAPI, so nothing can refer to what is in them.
        found.extend(event_shapes().iter().map(|shape| match &shape.schema {
            RefOr::Ref(reference) => reference.ref_location.clone(),
            RefOr::T(_) => String::new(),
        }));
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert!(found.contains(&format!("#/components/schemas/{name}")), "nothing has a {name}");
        }
    }

    #[test]
    fn all_operations_are_in_the_document() {
        let document: Value = serde_json::from_str(&TEXT).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        for operation in operations() {
            let method = operation.method.as_str().to_ascii_lowercase();
            assert_eq!(document["paths"][operation.path][&method]["operationId"], operation.says.id);
        }
    }

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    found.push(reference.clone());
                }
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
