//! Stored workflows.

use windlass_rest::Page;
use windlass_rest::alerts::{TestAlerts, TestedAlerts};
use windlass_rest::diagnostics::Validation;
use windlass_rest::imports::{ImportCrontab, ImportedCrontab};
use windlass_rest::workflows::{
    Applied, Dependencies, DependenciesQuery, ListWorkflows, Workflow, WorkflowSummary, WorkflowVersion,
};

use super::runs::Nothing;
use crate::error::Error;
use crate::send::{Body, Client};

impl Client {
    /// Stores a definition; the text is that of a workflow file.
    pub async fn apply(&self, name: &str, text: &str) -> Result<Applied, Error> {
        self.put(self.api(&["workflows", name]), Body::yaml(text)).await
    }

    /// Some workflows, by name.
    pub async fn workflows(&self, query: &ListWorkflows) -> Result<Page<WorkflowSummary>, Error> {
        self.get(self.api(&["workflows"]), query).await
    }

    /// A workflow with its definition, as it is now or was.
    pub async fn workflow(&self, name: &str, version: Option<u32>) -> Result<Workflow, Error> {
        match version {
            None => self.get(self.api(&["workflows", name]), &()).await,
            Some(version) => {
                self.get(self.api(&["workflows", name, "versions", &version.to_string()]), &()).await
            }
        }
    }

    /// Its versions, newest first.
    pub async fn versions(&self, name: &str, query: &ListWorkflows) -> Result<Page<WorkflowVersion>, Error> {
        self.get(self.api(&["workflows", name, "versions"]), query).await
    }

    /// What it needs and what needs it.
    pub async fn dependencies(&self, name: &str, query: &DependenciesQuery) -> Result<Dependencies, Error> {
        self.get(self.api(&["workflows", name, "dependencies"]), query).await
    }

    /// Allows new runs of it, or not.
    pub async fn enable_workflow(&self, name: &str, enabled: bool) -> Result<WorkflowSummary, Error> {
        let verb = if enabled { "enable" } else { "disable" };
        self.act(self.api(&["workflows", &format!("{name}:{verb}")]), &Nothing {}).await
    }

    /// Deletes it; its runs stay until their retention ends.
    pub async fn delete_workflow(&self, name: &str) -> Result<(), Error> {
        self.delete(self.api(&["workflows", name])).await
    }

    /// What a crontab would be as workflows; nothing is stored.
    pub async fn import_crontab(&self, crontab: &ImportCrontab) -> Result<ImportedCrontab, Error> {
        self.act(self.api(&["import", "crontab"]), crontab).await
    }

    /// Sends each alert of a workflow once, as a test.
    pub async fn test_alerts(&self, workflow: &str) -> Result<TestedAlerts, Error> {
        self.act(self.api(&["alerts:test"]), &TestAlerts { workflow: workflow.to_owned() }).await
    }

    /// What the server thinks of a workflow file.
    pub async fn validate(&self, text: &str) -> Result<Validation, Error> {
        self.post_body(self.api(&["workflows:validate"]), Body::yaml(text)).await
    }
}
