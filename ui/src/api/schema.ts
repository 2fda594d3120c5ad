// Made by `npm run types` from docs/reference/openapi.json.

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The web UI
         * @description Also at `/runs`, `/workflows`, `/editor`, `/schedules`, `/cluster` and below, and at `/login`.
         */
        get: operations["ui"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document for people */
        get: operations["docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send each alert of a workflow once, as a test
         * @description Each is sent at once, by the master that is asked; what is not taken is not sent again.
         */
        post: operations["test_alerts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List campaigns, newest first */
        get: operations["list_backfills"];
        put?: never;
        /**
         * Run a workflow for past firings
         * @description With `dry_run` the answer is the plan: every due time in order, which of them have a run already, and which get one. Without it a campaign is started that creates those runs, oldest first. A campaign goes on where it was, whoever owns its shard. Its runs start nothing by completion triggers: `with_dependants` has the workflows that need them done after it, one after the other.
         */
        post: operations["create_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backfills/{backfill}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a campaign */
        get: operations["show_backfill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backfills/{backfill}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a campaign create no more runs
         * @description Those it has go on.
         */
        post: operations["pause_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backfills/{backfill}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused campaign go on */
        post: operations["resume_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backfills/{backfill}:stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a campaign and stop its runs */
        post: operations["stop_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Take a copy of everything, while everything goes on
         * @description One at a time. `windlass restore` makes a store of it.
         */
        get: operations["backup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List calendars, by name */
        get: operations["list_calendars"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/calendars/{calendar}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a calendar and who uses it */
        get: operations["show_calendar"];
        /**
         * Make a calendar, or change it
         * @description It is what schedules obey from then on: the answer comes when every live master knows it.
         */
        put: operations["set_calendar"];
        post?: never;
        /**
         * Delete a calendar
         * @description No stored workflow may use it.
         */
        delete: operations["delete_calendar"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show masters, shards and epochs */
        get: operations["show_cluster"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cron/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell when a cron rule fires next */
        get: operations["cron_next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow everything
         * @description Events are named `run` (data: a Run), `job` (a JobEvent), `worker` (a Worker) and `resync` (a Resync: something may have been missed, read everything again).
         */
        get: operations["events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/import/crontab": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn a crontab into workflows and store nothing
         * @description Each workflow that comes out is valid, and is stored with `PUT /api/v1/workflows/{workflow}`.
         */
        post: operations["import_crontab"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pools, by name */
        get: operations["list_pools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pools/{pool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a pool */
        get: operations["show_pool"];
        /** Make a pool, or change its limit */
        put: operations["set_pool"];
        post?: never;
        /**
         * Delete a pool
         * @description No job may hold a permit of it; a limit of 0 gives no new ones.
         */
        delete: operations["delete_pool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first */
        get: operations["list_runs"];
        put?: never;
        /**
         * Start a run
         * @description Of a stored workflow, or of a definition that comes with the call.
         */
        post: operations["create_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a run */
        get: operations["show_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a run
         * @description First the run and its jobs as they are, then each change, until the end of the run was told. Events are named `run` (data: a Run), `job` (a JobEvent) and `resync` (a Resync: read everything again).
         */
        get: operations["run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Draw the tasks of a run */
        get: operations["run_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the jobs of a run, by number */
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a job */
        get: operations["show_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}/attempts/{attempt}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what an attempt printed
         * @description With `follow=true` the answer is a stream of events named `log`, each with a LogPage as data and `next_line` as id; the last has `complete`.
         */
        get: operations["read_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say why a job does not run */
        get: operations["why"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}:approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve what waits for it */
        post: operations["approve_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}:force-success": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Count a failed job as a success */
        post: operations["force_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}:reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject what waits for approval */
        post: operations["reject_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/jobs/{job}:retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try a job again */
        post: operations["retry_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the jobs of each task of a run
         * @description Takes as long for a task of a million jobs as for one of a hundred.
         */
        get: operations["list_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a run */
        post: operations["pause_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}:recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try again what failed or was stopped */
        post: operations["recover_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}:rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do a run again, as a new run */
        post: operations["rerun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused run go on */
        post: operations["resume_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run}:stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a run */
        post: operations["stop_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scheduler": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the dispatch switch */
        get: operations["show_scheduler"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules, by id */
        get: operations["list_schedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a schedule */
        get: operations["show_schedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what became of due moments, newest first */
        get: operations["list_firings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell when a schedule is due next */
        get: operations["schedule_next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a schedule fire no more */
        post: operations["pause_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a schedule fire again */
        post: operations["resume_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tokens, by name */
        get: operations["list_tokens"];
        put?: never;
        /**
         * Make a token
         * @description A repeat with the same key gets a secret that takes the place of the first one's.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Have a token open nothing any more */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what starts runs from outside
         * @description Those that are called first, by id; then the completion triggers of workflows, by name.
         */
        get: operations["list_triggers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/triggers/{trigger}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a trigger that is called */
        get: operations["show_trigger"];
        /**
         * Make a trigger that is called, or change it
         * @description A new one has a secret, which only this answer tells; one that is changed keeps its own.
         */
        put: operations["set_trigger"];
        /**
         * Start a run by calling a trigger
         * @description The bearer token is the secret of the trigger, or one that may start runs. The body is a JSON object of up to 256 KiB; the trigger says which of it become parameters.
         */
        post: operations["fire_trigger"];
        /** Delete a trigger and its token */
        delete: operations["delete_trigger"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workers, by name */
        get: operations["list_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{worker}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a worker and what it does */
        get: operations["show_worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{worker}:drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a worker take nothing new */
        post: operations["drain_worker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers/{worker}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a worker take work again */
        post: operations["resume_worker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workflows, by name */
        get: operations["list_workflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a workflow with its definition */
        get: operations["show_workflow"];
        /**
         * Store a workflow
         * @description Makes a version if the definition differs from the current one.
         */
        put: operations["put_workflow"];
        post?: never;
        /**
         * Delete a workflow
         * @description It must have no open runs and no open backfill, and no other workflow may run it as a sub-workflow. Runs that it had stay, with their definitions.
         */
        delete: operations["delete_workflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what a workflow or task needs, and what needs it */
        get: operations["dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Draw the tasks of a workflow */
        get: operations["workflow_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a workflow, newest first */
        get: operations["list_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a workflow as it was in a version */
        get: operations["show_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}:disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow no new runs of a workflow */
        post: operations["disable_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{workflow}:enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow new runs of a workflow */
        post: operations["enable_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows:validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a definition and store nothing
         * @description That a definition is wrong is no error of the call.
         */
        post: operations["validate_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file that the web UI needs */
        get: operations["ui_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The first page of the documents */
        get: operations["documents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{page}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A document
         * @description Every code of a problem has one: `errors/CODE`.
         */
        get: operations["document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell whether the process lives */
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Measures, for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell whether it can do its work */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch dispatching on */
        post: operations["start_scheduler"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scheduler/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch dispatching off; running tasks go on */
        post: operations["stop_scheduler"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Any JSON object. */
        Anything: Record<string, never>;
        /** @description The answer of `PUT /workflows/{name}`: 201 when a version was made, 200 when nothing changed. */
        Applied: components["schemas"]["WorkflowSummary"] & {
            /** @description Whether this call made a version. */
            changed: boolean;
            /** @description Warnings. */
            diagnostics?: components["schemas"]["Diagnostic"][];
        };
        /** @description One try of a job on one worker. */
        Attempt: {
            assigned_at?: components["schemas"]["Time"] | null;
            command?: components["schemas"]["Command"] | null;
            /**
             * Format: int32
             * @description What its process exited with.
             */
            exit_code?: number | null;
            finished_at?: components["schemas"]["Time"] | null;
            /**
             * Format: u-int32
             * @description Counts the job's attempts from 1.
             */
            number: number;
            /** @description Why it is in this state. */
            reason: string;
            /**
             * Format: int32
             * @description The signal that ended its process.
             */
            signal?: number | null;
            started_at?: components["schemas"]["Time"] | null;
            /** @description Where it is. */
            state: components["schemas"]["AttemptState"];
            /** @description Name of the worker that has it; its id if no name is known. */
            worker?: string | null;
        };
        /**
         * @description Where an attempt is.
         * @enum {string}
         */
        AttemptState: "assigned" | "running" | "stopping" | "success" | "failed" | "killed" | "lost" | "timed_out";
        /** @description A campaign over past firings. */
        Backfill: {
            /**
             * Format: u-int64
             * @description How many of them were created so far.
             */
            created: number;
            /** @description When it was started. */
            created_at: components["schemas"]["Time"];
            /** @description Who started it. */
            created_by: string;
            /**
             * Format: u-int64
             * @description How many have ended otherwise.
             */
            failed: number;
            finished_at?: components["schemas"]["Time"] | null;
            from?: components["schemas"]["Time"] | null;
            /** @description 13 characters; increasing with the time of creation. */
            id: string;
            /**
             * Format: u-int32
             * @description How many runs may be open at once.
             */
            parallel: number;
            /** @description What the runs are given, over what their schedules say. */
            params: {
                [key: string]: unknown;
            };
            /** @description The campaign that this is a later stage of, if it is one. */
            part_of?: string | null;
            priority?: components["schemas"]["Priority"] | null;
            /**
             * @description One for each workflow, in the order in which they are done: the next begins when every run of the one before
             *     has succeeded.
             */
            stages: components["schemas"]["BackfillStage"][];
            /** @description Where it is. */
            state: components["schemas"]["BackfillState"];
            /**
             * Format: u-int64
             * @description How many have succeeded.
             */
            succeeded: number;
            to?: components["schemas"]["Time"] | null;
            /**
             * Format: u-int64
             * @description How many runs it has in all.
             */
            total: number;
            /** @description The workflow that was asked for. */
            workflow: string;
        };
        /** @description Some items of a list, and where to go on. */
        BackfillPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Backfill"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description What a campaign would do. */
        BackfillPlan: {
            /**
             * Format: u-int64
             * @description How many due times have a run already: a successful one, or one that is open.
             */
            existing: number;
            /** @description One for each workflow, in the order in which they are done. */
            stages: components["schemas"]["PlannedStage"][];
            /**
             * Format: u-int64
             * @description How many runs would be created in all.
             */
            total: number;
            /** @description The workflow that was asked for. */
            workflow: string;
        };
        /** @description The part of a campaign that is about one workflow. */
        BackfillStage: {
            /**
             * Format: u-int64
             * @description How many of them were created so far.
             */
            created: number;
            /**
             * Format: u-int64
             * @description How many have ended otherwise.
             */
            failed: number;
            /** @description What `trigger.backfill` of its runs says; null before it begins. */
            id?: string | null;
            /** @description Where it is. */
            state: components["schemas"]["BackfillState"];
            /**
             * Format: u-int64
             * @description How many have succeeded.
             */
            succeeded: number;
            /**
             * Format: u-int64
             * @description How many runs it has in all.
             */
            total: number;
            /** @description The workflow. */
            workflow: string;
        };
        /**
         * @description Where a campaign is.
         * @enum {string}
         */
        BackfillState: "waiting" | "running" | "paused" | "stopping" | "done" | "failed" | "stopped";
        /** @description A calendar. */
        Calendar: {
            changed_at?: components["schemas"]["Time"] | null;
            /** @description By whom. */
            changed_by?: string | null;
            /** @description Single days, in order. */
            dates: components["schemas"]["Day"][];
            /** @description For people. */
            description?: string | null;
            /** @description What schedules call it. */
            name: string;
            /** @description The workflows whose schedules use it, by name; null in a list. */
            used_by?: string[] | null;
            /** @description Days of every week, from Monday. */
            weekdays: components["schemas"]["Weekday"][];
        };
        /** @description Some items of a list, and where to go on. */
        CalendarPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Calendar"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description The answer of `GET /cluster`. */
        Cluster: {
            /** @description Name of the answering master. */
            answered_by: string;
            /** @description Name of the owner of shard 0, which does the cluster's chores; null while nobody is. */
            leader?: string | null;
            /** @description Every master that is known, by name. */
            masters: components["schemas"]["Master"][];
            /** @description Jobs that could start, by group and priority: each group's most urgent first, what needs no group before all. */
            queues?: components["schemas"]["Queue"][];
            /** @description Whether anything is dispatched at all. */
            scheduler: components["schemas"]["Scheduler"];
            /** @description Every shard, by number. */
            shards: components["schemas"]["Shard"][];
            /** @description Where the truth is kept, without passwords: `sqlite:/…`, `postgres://…`. */
            store?: string | null;
            /** @description The answering master's version of Windlass. */
            version: string;
            /** @description Work that is not over. */
            work?: components["schemas"]["WorkCounts"];
            /** @description Workers and their slots. */
            workers: components["schemas"]["WorkerCounts"];
        };
        /** @description What an attempt runs. */
        Command: {
            /** @description Whether something was too long and is cut: a text after 16 KiB, a value after 4 KiB. */
            cut: boolean;
            /**
             * @description The variables that the process is given beside `WINDLASS_…`: those of the workflow and the task, and those that
             *     the script refers to.
             */
            env: {
                [key: string]: string;
            };
            /** @description The script, in which each value is a reference to a variable; the program with its arguments; or the HTTP call. */
            text: string;
            /** @description The type of the task: `shell`, `python`, `http` and so on. */
            type: string;
        };
        /** @description Body of `POST /backfills`. */
        CreateBackfill: {
            /** @description Only say what would be done. */
            dry_run?: boolean;
            /** @description The first due time that is meant. */
            from: components["schemas"]["Time"];
            /** @description Only due times that have no successful run and no open one. */
            missing_only?: boolean;
            /**
             * Format: u-int32
             * @description How many of its runs may be open at once, up to 1000; one after the other unless told.
             */
            parallel?: number | null;
            /** @description What the runs are given, over what their schedules say; not those of dependants. */
            params?: {
                [key: string]: unknown;
            };
            priority?: components["schemas"]["Priority"] | null;
            /** @description The last one. What is still to come is not meant. */
            to: components["schemas"]["Time"];
            /**
             * @description Also the workflows that need its runs, by `dependent` tasks or by completion triggers, directly or not: each after
             *     what it needs.
             */
            with_dependants?: boolean;
            /** @description Name of a stored workflow that has a schedule. */
            workflow: string;
        };
        /** @description Body of `POST /runs`: a stored workflow or a definition, not both. */
        CreateRun: {
            definition?: components["schemas"]["Definition"] | null;
            /** @description Only this task and those after it. */
            from_task?: string | null;
            /** @description Marks for people: at most 50, each with a name of 1 to 100 and a value of up to 250 characters. */
            labels?: {
                [key: string]: string;
            };
            logical_time?: components["schemas"]["Time"] | null;
            /** @description Only this task. */
            only_task?: string | null;
            /** @description Parameters by name. A text is read as the parameter's type. */
            params?: {
                [key: string]: unknown;
            };
            priority?: components["schemas"]["Priority"] | null;
            run_at?: components["schemas"]["Time"] | null;
            /** @description Name of a stored workflow. */
            workflow?: string | null;
        };
        /** @description Body of `POST /tokens`. */
        CreateToken: {
            expires_at?: components["schemas"]["Time"] | null;
            /** @description What it is for; unique. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /** @description The answer of `POST /tokens`: the only time that the secret is shown. */
        CreatedToken: components["schemas"]["Token"] & {
            /** @description What `Authorization: Bearer` takes. */
            secret: string;
        };
        /** @description The answer: fewer moments than asked for if the rule ends. */
        CronNext: {
            /** @description The rule in words. */
            description?: string | null;
            /** @description The moments, in order. */
            items: components["schemas"]["CronTime"][];
        };
        /** @description One moment at which a rule fires. */
        CronTime: {
            /** @description The same in the rule's zone, with its offset. */
            local?: string | null;
            /** @description In UTC. */
            time: components["schemas"]["Time"];
        };
        /**
         * Format: date
         * @description A date
         * @example 2026-12-25
         */
        Day: string;
        /** @description A workflow definition: an object in the shape of a workflow file, or the text of one. */
        Definition: string | Record<string, never>;
        /**
         * @description The answer of `GET /workflows/{name}/dependencies`: everything it needs and everything that needs it, directly or
         *     not.
         */
        Dependencies: {
            /** @description What needs it, nearest first. */
            down: components["schemas"]["Dependency"][];
            /** @description The task that was asked about. */
            task?: string | null;
            /** @description What it needs, nearest first. */
            up: components["schemas"]["Dependency"][];
            /** @description The workflow. */
            workflow: string;
        };
        /** @description Something that is needed, or that needs. */
        Dependency: {
            /**
             * Format: u-int32
             * @description How many steps away, from 1.
             */
            distance: number;
            /** @description Through what. */
            kind: components["schemas"]["DependencyKind"];
            /** @description The task; null for a workflow. */
            task?: string | null;
            /** @description The workflow it is, or belongs to. */
            workflow: string;
        };
        /**
         * @description What makes one thing need another.
         * @enum {string}
         */
        DependencyKind: "task" | "sub_workflow" | "dependent" | "trigger";
        /**
         * @description One complaint about a workflow file. Lines and columns count from 1, columns in characters; they are null for a
         *     definition that came as an object.
         */
        Diagnostic: {
            /** @description Stable name of the kind of complaint; `windlass explain CODE` tells more. */
            code: string;
            /**
             * Format: u-int32
             * @description Where it begins.
             */
            column?: number | null;
            /**
             * Format: u-int32
             * @description The column after its last character.
             */
            end_column?: number | null;
            /**
             * Format: u-int32
             * @description Where it ends.
             */
            end_line?: number | null;
            /** @description What to do about it. */
            help?: string | null;
            /**
             * Format: u-int32
             * @description Where it begins.
             */
            line?: number | null;
            /** @description What is wrong, in lower case without a full stop. */
            message: string;
            /** @description Where in the document, such as `tasks.extract.retries`; empty for the whole file. */
            path?: string;
            /** @description Error or warning. */
            severity: components["schemas"]["Severity"];
        };
        /**
         * @description Which way dependencies are followed.
         * @enum {string}
         */
        Direction: "up" | "down";
        /** @description The answer of `POST /triggers/{id}`. */
        Fired: {
            /** @description The run that was started, by this call or by an earlier one with the same key. */
            run: string;
        };
        /** @description One row of the ledger: what became of one due moment, or of several in a row that were left out for one cause. */
        Firing: {
            /** @description When it was decided. */
            at: components["schemas"]["Time"];
            /** @description Why no run came of it: `overlap`, `paused`, `disabled`, `calendar` or `missed`. */
            cause?: string | null;
            /**
             * Format: u-int64
             * @description How many.
             */
            count: number;
            /** @description The due moment; the first of several. */
            due: components["schemas"]["Time"];
            /** @description The last of several; the same as `due` for one. */
            last_due: components["schemas"]["Time"];
            /** @description Whether a run came of it. */
            outcome: components["schemas"]["FiringOutcome"];
            /** @description The run that came of it. */
            run?: string | null;
        };
        /**
         * @description What became of a due moment.
         * @enum {string}
         */
        FiringOutcome: "ran" | "skipped";
        /** @description Some items of a list, and where to go on. */
        FiringPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Firing"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description The tasks of a workflow as a picture: a grid of cells, one for each task, with layers from left to right. */
        Graph: {
            /** @description What waits for what, also because an expression reads outputs. */
            edges: components["schemas"]["GraphEdge"][];
            /**
             * Format: u-int32
             * @description Cells from top to bottom.
             */
            height: number;
            /** @description The tasks, in the order of the file; those of `finally` come last. */
            tasks: components["schemas"]["GraphTask"][];
            /**
             * Format: u-int32
             * @description Cells from left to right.
             */
            width: number;
        };
        /** @description One task waits for another. */
        GraphEdge: {
            /** @description Cells, as column and row, at which its line turns so that it passes no other task. */
            bends?: number[][];
            /**
             * Format: u-int32
             * @description Position in `tasks` of the one that comes first.
             */
            from: number;
            /**
             * Format: u-int32
             * @description Position in `tasks` of the one that waits.
             */
            to: number;
        };
        /** @description A task and its cell. */
        GraphTask: {
            /** @description What it is for. */
            description?: string | null;
            /** @description Whether it belongs to `finally`. */
            finally?: boolean;
            /** @description Whether it becomes one job for each of several items. */
            foreach?: boolean;
            /** @description Its id. */
            id: string;
            /** @description Its type, as in a workflow file: `shell`, `http`, … */
            type: string;
            /**
             * Format: u-int32
             * @description Column of its cell, from 0.
             */
            x: number;
            /**
             * Format: u-int32
             * @description Row of its cell, from 0.
             */
            y: number;
        };
        /** @description Body of `POST /import/crontab`. */
        ImportCrontab: {
            /** @description What the name of every workflow begins with. */
            prefix?: string | null;
            /** @description The crontab, at most 256 KiB. */
            text: string;
            /** @description The time zone of the machine whose crontab it is; UTC unless told. */
            timezone?: string | null;
            user_column?: components["schemas"]["UserColumn"] | null;
        };
        /** @description What became of a crontab. Nothing is stored: each workflow is stored with `PUT /workflows/{name}`. */
        ImportedCrontab: {
            /** @description What became of every line that says something. */
            lines: components["schemas"]["ImportedLine"][];
            /** @description Whether lines were read as naming a user. */
            user_column: boolean;
            /** @description One workflow for each job that could be taken, in the order of the lines. */
            workflows: components["schemas"]["ImportedWorkflow"][];
        };
        /** @description What became of a line. */
        ImportedLine: {
            /**
             * Format: u-int32
             * @description Where what matters begins, in characters from 1.
             */
            column: number;
            /** @description What kind of line it is. */
            kind: components["schemas"]["LineKind"];
            /**
             * Format: u-int32
             * @description Its number, from 1.
             */
            line: number;
            /** @description What differs, or why it could not be taken. */
            notes: string[];
            /** @description How well it could be taken. */
            outcome: components["schemas"]["LineOutcome"];
            /** @description The line, shortened to 200 characters. */
            text: string;
            /** @description The workflow it became. */
            workflow?: string | null;
        };
        /** @description A workflow that was a line. */
        ImportedWorkflow: {
            /**
             * Format: u-int32
             * @description The line it was, from 1.
             */
            line: number;
            /** @description Its name. */
            name: string;
            /** @description The workflow file. */
            text: string;
        };
        /** @description One execution of a task inside a run. */
        Job: {
            /** @description Its tries, oldest first. */
            attempts: components["schemas"]["Attempt"][];
            /** @description The run of a sub-workflow that it waits for. */
            child?: string | null;
            /**
             * Format: u-int32
             * @description Which item of a `foreach` task, from 0; null for other tasks.
             */
            index?: number | null;
            next_attempt_at?: components["schemas"]["Time"] | null;
            /**
             * Format: u-int32
             * @description Its number in the run; what paths such as `/runs/{id}/jobs/{n}` take.
             */
            number: number;
            /** @description What it wrote to `WINDLASS_OUTPUT`; empty until it succeeded. */
            outputs?: {
                [key: string]: unknown;
            };
            /** @description Why it is in this state. */
            reason: string;
            /** @description Where it is. */
            state: components["schemas"]["JobState"];
            /** @description The task. */
            task: string;
        };
        /**
         * @description How many jobs of a run are in each state. Jobs of a `foreach` task count once its items are known; until then the
         *     task counts as one.
         */
        JobCounts: {
            /**
             * Format: u-int64
             * @description Wait for their next attempt.
             * @default 0
             */
            backoff: number;
            /**
             * Format: u-int64
             * @description Out of attempts.
             * @default 0
             */
            failed: number;
            /**
             * Format: u-int64
             * @description Wait for a person, a time, another run or their gang.
             * @default 0
             */
            held: number;
            /**
             * Format: u-int64
             * @description Could start.
             * @default 0
             */
            ready: number;
            /**
             * Format: u-int64
             * @description Under way.
             * @default 0
             */
            running: number;
            /**
             * Format: u-int64
             * @description Not needed.
             * @default 0
             */
            skipped: number;
            /**
             * Format: u-int64
             * @description Ended with their run.
             * @default 0
             */
            stopped: number;
            /**
             * Format: u-int64
             * @description Done as wanted.
             * @default 0
             */
            success: number;
            /**
             * Format: u-int64
             * @description All of them.
             * @default 0
             */
            total: number;
            /**
             * Format: u-int64
             * @description Dependencies are not done.
             * @default 0
             */
            waiting: number;
        };
        /** @description Data of an event `job`. */
        JobEvent: {
            /** @description The job. */
            job: components["schemas"]["Job"];
            /** @description The run. */
            run: string;
            /** @description Its workflow. */
            workflow: string;
        };
        /** @description Some items of a list, and where to go on. */
        JobPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Job"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /**
         * @description Where a job is.
         * @enum {string}
         */
        JobState: "waiting" | "ready" | "running" | "backoff" | "held" | "success" | "failed" | "skipped" | "stopped";
        /**
         * @description What a line of a crontab is.
         * @enum {string}
         */
        LineKind: "setting" | "job";
        /**
         * @description How well a line could be taken.
         * @enum {string}
         */
        LineOutcome: "converted" | "approximated" | "unsupported";
        /** @description One line. */
        LogLine: {
            /**
             * Format: u-int64
             * @description Counts the attempt's lines from 1, also those that were not kept.
             */
            number: number;
            /** @description Where it was printed. */
            stream: components["schemas"]["Stream"];
            /** @description Without its end of line; what is not UTF-8 is replaced. */
            text: string;
            /** @description When it was printed. */
            time: components["schemas"]["Time"];
        };
        /**
         * @description Some lines of a log: the answer of `GET …/attempts/{k}/log`. With `follow=true` the answer is a stream of
         *     server-sent events `log`, each with one of these as data and `next_line` as id; the last has `complete`.
         */
        LogPage: {
            /** @description Whether nothing will ever follow. */
            complete: boolean;
            /** @description The lines, in order. */
            items: components["schemas"]["LogLine"][];
            /**
             * Format: u-int64
             * @description Pass it as `from_line` to get what follows.
             */
            next_line: number;
            /** @description Something to tell beside the lines: that the worker is away and since when, and that these are its last words. */
            notice?: string | null;
        };
        /** @description A master. */
        Master: {
            /** @description Where others reach it. */
            address?: string | null;
            /** @description Random, made at each start. */
            id: string;
            /** @description Whether it owns shard 0. */
            leader: boolean;
            /** @description Its `--name`. */
            name: string;
            /**
             * Format: u-int32
             * @description How many shards it owns.
             */
            shards: number;
            started_at?: components["schemas"]["Time"] | null;
            /** @description Where it is. */
            state: components["schemas"]["MasterState"];
            /** @description Its version of Windlass. */
            version?: string | null;
        };
        /**
         * @description Where a master is.
         * @enum {string}
         */
        MasterState: "alive" | "silent";
        /** @description Their answer, with status 400, when there was nothing to do. */
        NotSwitched: {
            /** @description `Scheduler is already running!` or `Scheduler was not running!` */
            error: string;
        };
        /** @description One due time of a plan. */
        PlannedRun: {
            /** @description The run that it has: a successful one, or one that is open. */
            exists?: string | null;
            /** @description The time that the run would be about. */
            logical_time: components["schemas"]["Time"];
            /** @description Whether it gets a run. */
            wanted: boolean;
        };
        /** @description The part of a plan that is about one workflow. */
        PlannedStage: {
            /** @description The workflows of the plan that it needs, directly; none for the one that was asked for. */
            needs: string[];
            /** @description Every due time, oldest first. */
            runs: components["schemas"]["PlannedRun"][];
            /**
             * Format: u-int64
             * @description How many runs it would get.
             */
            total: number;
            /** @description The workflow. */
            workflow: string;
        };
        /** @description A pool. */
        Pool: {
            /** @description Who holds them, as `RUN.JOB`; at most a hundred. */
            holders?: string[];
            /**
             * Format: u-int32
             * @description How many permits there are.
             */
            limit: number;
            /** @description Its name. */
            name: string;
            /**
             * Format: u-int32
             * @description How many of them are held.
             */
            taken: number;
            /**
             * Format: u-int64
             * @description How many jobs wait for one.
             */
            waiting?: number;
        };
        /** @description Some items of a list, and where to go on. */
        PoolPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Pool"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /**
         * @description How urgent a run is.
         * @enum {string}
         */
        Priority: "highest" | "high" | "medium" | "low" | "lowest";
        /** @description An error as it is sent. */
        Problem: {
            /** @description The stable name of the kind of error. */
            code?: string;
            /** @description What went wrong this time, in lower case without a full stop. */
            detail?: string;
            /** @description What is wrong with a workflow. */
            diagnostics?: components["schemas"]["Diagnostic"][];
            /** @description What to do about it. */
            hint?: string | null;
            /**
             * Format: u-int16
             * @description The HTTP status.
             */
            status: number;
            /** @description What kind of error, the same for each of its code. */
            title?: string;
            /** @description A reference to the page about the code. */
            type?: string;
        };
        /** @description Jobs that wait for a slot. */
        Queue: {
            /** @description The group of workers that they need; null if any will do. */
            group?: string | null;
            /** @description How urgent their runs are. */
            priority: components["schemas"]["Priority"];
            /**
             * Format: u-int64
             * @description How many there are.
             */
            ready_jobs: number;
        };
        /** @description One reason why a job does not run. */
        Reason: Record<string, never> & {
            /** @description Stable name of the kind of reason; `windlass explain CODE` tells more. */
            code: string;
            /** @description What would start it. */
            remedy: string;
            /** @description What it waits for, for people. */
            text: string;
        };
        /** @description Body of `POST /runs/{id}:recover`; may be left out. */
        Recover: {
            /** @description What is tried again. */
            from?: components["schemas"]["RecoverFrom"];
        };
        /**
         * @description What is tried again when a run is recovered.
         * @enum {string}
         */
        RecoverFrom: "failed" | "current";
        /** @description Data of an event `resync`. */
        Resync: {
            /** @description Why. */
            reason?: string;
        };
        /**
         * @description What a token may do. Each may do what those after it may, `worker` and `trigger` apart.
         * @enum {string}
         */
        Role: "admin" | "operator" | "viewer" | "worker" | "trigger";
        /** @description One execution of a workflow version. */
        Run: {
            /** @description When it was created. */
            created_at: components["schemas"]["Time"];
            /** @description Who created it. */
            created_by: string;
            /**
             * Format: u-int64
             * @description Number of that ownership.
             */
            epoch: number;
            finished_at?: components["schemas"]["Time"] | null;
            /** @description Only this task and those after it were asked for. */
            from_task?: string | null;
            /** @description 13 characters; increasing with the time of creation. */
            id: string;
            /** @description How many jobs are in each state. */
            job_counts: components["schemas"]["JobCounts"];
            /** @description What it was marked with. */
            labels?: {
                [key: string]: string;
            };
            /** @description The due time that it is about; never the start time. */
            logical_time: components["schemas"]["Time"];
            /** @description Only this task was asked for. */
            only_task?: string | null;
            /** @description Name of the master that owns the shard; null while nobody does. */
            owner?: string | null;
            /** @description What it was given, and the defaults of the rest. */
            params: {
                [key: string]: unknown;
            };
            /** @description How urgent it is. */
            priority: components["schemas"]["Priority"];
            /** @description Why it is in this state. */
            reason: string;
            run_at?: components["schemas"]["Time"] | null;
            /**
             * Format: u-int32
             * @description The slice of everything in which it lives.
             */
            shard: number;
            started_at?: components["schemas"]["Time"] | null;
            /** @description Where it is. */
            state: components["schemas"]["RunState"];
            /** @description What made it. */
            trigger: components["schemas"]["Trigger"];
            /**
             * Format: u-int32
             * @description The stored version that runs; null for a definition that came with the call.
             */
            version?: number | null;
            /** @description Name of the workflow. */
            workflow: string;
        };
        /** @description Some items of a list, and where to go on. */
        RunPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Run"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /**
         * @description Where a run is.
         * @enum {string}
         */
        RunState: "pending" | "running" | "pausing" | "paused" | "stopping" | "success" | "failed" | "stopped";
        /** @description Something that starts runs. */
        RunTrigger: {
            /** @description The workflow whose runs end, and which end counts; null for what is called. */
            after?: string | null;
            changed_at?: components["schemas"]["Time"] | null;
            /** @description By whom. */
            changed_by?: string | null;
            /** @description What `POST /triggers/{id}` takes; null for what is not called. */
            id?: string | null;
            /** @description What it waits for. */
            kind: components["schemas"]["TriggerKind"];
            /**
             * @description Where each parameter is in what it is called with, as a JSON pointer. With none, fields that have the name of a
             *     parameter are taken.
             */
            params: {
                [key: string]: string;
            };
            /** @description The workflow that is run. */
            workflow: string;
        };
        /** @description Some items of a list, and where to go on. */
        RunTriggerPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["RunTrigger"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description A cron rule of a stored workflow. */
        Schedule: {
            /** @description What becomes of firings that were missed: `latest`, `all` or `none`. */
            catchup: string;
            /** @description The rule. */
            cron: string;
            /** @description The rule in words. */
            description?: string | null;
            /** @description Whether its workflow may have new runs. */
            enabled: boolean;
            end?: components["schemas"]["Time"] | null;
            /** @description `WORKFLOW@NAME`: what paths take, percent-encoded, and the command line. */
            id: string;
            /** @description At most this much later, as a duration. */
            jitter?: string | null;
            last_firing?: components["schemas"]["Firing"] | null;
            /** @description Its name in the workflow: its `id`, or else its rule. */
            name: string;
            next_at?: components["schemas"]["Time"] | null;
            /** @description What happens while a run is active: `skip`, `queue`, `cancel_running` or `allow`. */
            overlap: string;
            /** @description Whether somebody paused it. */
            paused: boolean;
            start?: components["schemas"]["Time"] | null;
            /** @description Zone in which the rule is read. */
            timezone: string;
            /** @description The workflow. */
            workflow: string;
        };
        /** @description Some items of a list, and where to go on. */
        SchedulePage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Schedule"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description The answer of `GET /scheduler`, and part of `GET /cluster`. */
        Scheduler: {
            changed_at?: components["schemas"]["Time"] | null;
            /** @description Who switched it. */
            changed_by?: string | null;
            /** @description Whether anything is dispatched. Running tasks go on either way. */
            running: boolean;
        };
        /** @description Body of `PUT /calendars/{name}`. */
        SetCalendar: {
            /** @description Single days; up to 2000. */
            dates?: components["schemas"]["Day"][];
            /** @description For people; up to 500 characters. */
            description?: string | null;
            /** @description Days of every week. */
            weekdays?: components["schemas"]["Weekday"][];
        };
        /** @description Body of `PUT /pools/{name}`. */
        SetPool: {
            /**
             * Format: u-int32
             * @description How many permits there are. Fewer than are held takes none back.
             */
            limit: number;
        };
        /** @description Body of `PUT /triggers/{id}`. */
        SetTrigger: {
            /** @description Whether it gets a new secret, and the old one opens nothing any more. */
            new_secret?: boolean;
            /** @description Where each parameter is in what it is called with: `{"day": "/head/day"}`. */
            params?: {
                [key: string]: string;
            };
            /** @description Name of a stored workflow. */
            workflow: string;
        };
        /** @description The answer of `PUT /triggers/{id}`. */
        SetTriggerAnswer: components["schemas"]["RunTrigger"] & {
            /** @description What `Authorization: Bearer` takes when it is called: only told when it is new. */
            secret?: string | null;
        };
        /**
         * @description How bad it is.
         * @enum {string}
         */
        Severity: "error" | "warning";
        /** @description A fixed slice of everything. */
        Shard: {
            /**
             * Format: u-int64
             * @description Number of that ownership.
             */
            epoch: number;
            /**
             * Format: u-int64
             * @description How many runs of it are not over, if the answering master knows.
             */
            open_runs?: number | null;
            /** @description Name of the master that owns it; null while nobody does. */
            owner?: string | null;
            /**
             * Format: u-int32
             * @description Its number.
             */
            shard: number;
        };
        /**
         * @description Where a line comes from.
         * @enum {string}
         */
        Stream: "stdout" | "stderr" | "cut";
        /** @description The answer of `POST /scheduler/start` and `/scheduler/stop` (outside `/api/v1`) when they did something. */
        Switched: {
            /** @description `Scheduler has started...` or `Scheduler has stopped.` */
            message: string;
        };
        /** @description How the jobs of one task of a run stand: a million of them as well as one. */
        TaskCounts: {
            /**
             * Format: u-int32
             * @description The number of its first job; those of a `foreach` task have the numbers after it.
             */
            first_job: number;
            /** @description How many of its jobs are in each state. */
            job_counts: components["schemas"]["JobCounts"];
            /**
             * Format: u-int32
             * @description How many jobs a slice has; the last may have fewer. 0 if nothing was sliced.
             */
            part_size?: number;
            /** @description The same for each slice of its jobs, by number. */
            parts?: components["schemas"]["JobCounts"][];
            /** @description The task. */
            task: string;
        };
        /** @description The tasks of a run, and how the jobs of each stand. */
        TaskList: {
            /** @description In the order of the definition. */
            items: components["schemas"]["TaskCounts"][];
        };
        /** @description Body of `POST /alerts:test`. */
        TestAlerts: {
            /** @description The workflow whose alerts are tried. */
            workflow: string;
        };
        /** @description What came of one alert. */
        TestedAlert: {
            /** @description Whether the other side took it. */
            accepted: boolean;
            /** @description Why it did not. */
            detail?: string | null;
            /** @description Where to: an HTTP address, or `mailto:` and whom to. */
            target: string;
        };
        /** @description What came of it: one entry for each alert of the workflow, in the order of its file. */
        TestedAlerts: {
            /** @description Each alert. */
            items: components["schemas"]["TestedAlert"][];
        };
        /**
         * Format: date-time
         * @description RFC 3339, UTC, milliseconds
         * @example 2026-01-31T03:00:00.000Z
         */
        Time: string;
        /** @description A token, without its secret. */
        Token: {
            /** @description When it was made. */
            created_at: components["schemas"]["Time"];
            /** @description Who made it. */
            created_by?: string | null;
            expires_at?: components["schemas"]["Time"] | null;
            /** @description What `DELETE /tokens/{id}` takes; the name works too. */
            id: string;
            last_used_at?: components["schemas"]["Time"] | null;
            /** @description What it is for; shown as who did something. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /** @description Some items of a list, and where to go on. */
        TokenPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Token"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description What made a run. */
        Trigger: {
            /** @enum {string} */
            kind: "call";
        } | {
            /**
             * Format: u-int32
             * @description Its number.
             */
            job: number;
            /** @enum {string} */
            kind: "parent";
            /** @description The run of that job. */
            run: string;
        } | {
            /** @enum {string} */
            kind: "rerun";
            /** @description The earlier run. */
            run: string;
        } | {
            /** @description When it was due. */
            due: components["schemas"]["Time"];
            /** @enum {string} */
            kind: "schedule";
            /** @description Id of the schedule. */
            schedule: string;
        } | {
            /** @enum {string} */
            kind: "after";
            /** @description That run. */
            run: string;
        } | {
            /** @description Its id. */
            backfill: string;
            /** @enum {string} */
            kind: "backfill";
        };
        /**
         * @description What a trigger waits for.
         * @enum {string}
         */
        TriggerKind: "webhook" | "completion";
        /**
         * @description Whether the lines of a crontab name a user before the command.
         * @enum {string}
         */
        UserColumn: "auto" | "yes" | "no";
        /** @description The answer of `POST /workflows:validate`. That a workflow is wrong is no error of the call. */
        Validation: {
            /** @description Every complaint, in the order of the file. */
            diagnostics: components["schemas"]["Diagnostic"][];
            graph?: components["schemas"]["Graph"] | null;
            /** @description The workflow's name, if it could be read. */
            name?: string | null;
            /** @description Whether it would be accepted; warnings do not count. */
            valid: boolean;
        };
        /** @description Body of `POST /runs/{id}/jobs/{n}:approve` and `:reject`; may be left out. */
        Verdict: {
            /** @description What to write down beside the answer: it is shown in the reason of the job. Up to 2000 characters. */
            comment?: string | null;
        };
        /**
         * @description A day of the week.
         * @enum {string}
         */
        Weekday: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
        /** @description The answer of `GET /runs/{id}/jobs/{n}/why`. */
        Why: {
            /**
             * Format: u-int32
             * @description Which item of a `foreach` task.
             */
            index?: number | null;
            /**
             * Format: u-int32
             * @description The job's number.
             */
            job: number;
            /** @description Everything that keeps it from running, the first to look at first; never empty. */
            reasons: components["schemas"]["Reason"][];
            /** @description Where it is. */
            state: components["schemas"]["JobState"];
            /** @description Its task. */
            task: string;
        };
        /** @description Work that is not over. */
        WorkCounts: {
            /**
             * Format: u-int64
             * @description Runs that are not over.
             * @default 0
             */
            open_runs: number;
            /**
             * Format: u-int64
             * @description Jobs that could start.
             * @default 0
             */
            ready_jobs: number;
            /**
             * Format: u-int64
             * @description Jobs that are under way.
             * @default 0
             */
            running_jobs: number;
        };
        /** @description A worker. */
        Worker: {
            /** @description What it does now; only in `GET /workers/{id}`. */
            attempts?: components["schemas"]["WorkerAttempt"][];
            /** @description The groups that it serves. */
            groups: string[];
            /** @description Its machine. */
            host?: string | null;
            /** @description Stable, from its data folder. */
            id: string;
            /** @description Its labels. */
            labels?: {
                [key: string]: string;
            };
            last_seen_at?: components["schemas"]["Time"] | null;
            /** @description Its `--name`, unique among live workers. Paths take this or the id. */
            name: string;
            /** @description Why it is in this state. */
            reason?: string;
            /** @description What it has of each resource. */
            resources?: {
                [key: string]: number;
            };
            /** @description What of it is taken. */
            resources_used?: {
                [key: string]: number;
            };
            /**
             * Format: u-int32
             * @description How many attempts it does at once.
             */
            slots: number;
            /**
             * Format: u-int32
             * @description How many of them are taken.
             */
            slots_used: number;
            started_at?: components["schemas"]["Time"] | null;
            /** @description Where it is. */
            state: components["schemas"]["WorkerState"];
            /** @description Its version of Windlass. */
            version?: string | null;
        };
        /** @description An attempt that a worker has. */
        WorkerAttempt: {
            /**
             * Format: u-int32
             * @description Number of the attempt.
             */
            attempt: number;
            /**
             * Format: u-int32
             * @description Number of the job.
             */
            job: number;
            /** @description The run. */
            run: string;
            started_at?: components["schemas"]["Time"] | null;
            /** @description Its task. */
            task: string;
            /** @description Its workflow. */
            workflow: string;
        };
        /** @description Workers and their slots. */
        WorkerCounts: {
            /**
             * Format: u-int32
             * @description Those that finish what they have.
             * @default 0
             */
            draining: number;
            /**
             * Format: u-int32
             * @description Those that were not heard of for too long.
             * @default 0
             */
            lost: number;
            /**
             * Format: u-int32
             * @description Those that take work.
             * @default 0
             */
            online: number;
            /**
             * Format: u-int64
             * @description Slots of those that are not lost.
             * @default 0
             */
            slots: number;
            /**
             * Format: u-int64
             * @description How many of these are taken.
             * @default 0
             */
            slots_used: number;
        };
        /** @description Some items of a list, and where to go on. */
        WorkerPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["Worker"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /**
         * @description Where a worker is.
         * @enum {string}
         */
        WorkerState: "online" | "draining" | "overloaded" | "lost";
        /** @description A stored workflow with its definition: `GET /workflows/{name}` and `GET /workflows/{name}/versions/{version}`. */
        Workflow: components["schemas"]["WorkflowSummary"] & {
            /** @description The definition as an object in the shape of a workflow file. */
            definition: Record<string, never>;
            /** @description The same as YAML text. */
            text?: string | null;
        };
        /** @description A stored workflow in a list. */
        WorkflowSummary: {
            /** @description What it is for. */
            description?: string | null;
            /** @description Whether new runs may begin. */
            enabled: boolean;
            /** @description Marks for people and filters. */
            labels?: {
                [key: string]: string;
            };
            /** @description Its name. */
            name: string;
            /** @description Ids of its schedules. */
            schedules?: string[];
            /**
             * Format: u-int32
             * @description How many tasks it has.
             */
            task_count?: number;
            /** @description When the current version was stored. */
            updated_at: components["schemas"]["Time"];
            /** @description Who stored it. */
            updated_by: string;
            /**
             * Format: u-int32
             * @description The current version, from 1.
             */
            version: number;
        };
        /** @description Some items of a list, and where to go on. */
        WorkflowSummaryPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["WorkflowSummary"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
        /** @description One version of a workflow. */
        WorkflowVersion: {
            /** @description When it was stored. */
            created_at: components["schemas"]["Time"];
            /** @description Who stored it. */
            created_by: string;
            /** @description Whether new runs take it. */
            current: boolean;
            /** @description Hash of its content. */
            hash?: string | null;
            /**
             * Format: u-int32
             * @description Its number, from 1.
             */
            version: number;
        };
        /** @description Some items of a list, and where to go on. */
        WorkflowVersionPage: {
            /** @description The items, in the order of the list. */
            items: components["schemas"]["WorkflowVersion"][];
            /** @description Pass it as `cursor` to get what follows; null at the end. */
            next_cursor?: string | null;
        };
    };
    responses: {
        /** @description No such backfill; or no such path. */
        backfill_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "backfill_not_found" | "not_found";
                };
            };
        };
        /** @description Parameters do not fit. */
        bad_params: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "bad_params";
                };
            };
        };
        /** @description Parameters do not fit; or invalid workflow; or workflows call each other in a circle; or idempotency key used for another request. */
        bad_params_or_invalid_workflow_or_workflow_circle_or_key_reused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "bad_params" | "invalid_workflow" | "workflow_circle" | "key_reused";
                };
            };
        };
        /** @description Parameters do not fit; or idempotency key used for another request. */
        bad_params_or_key_reused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "bad_params" | "key_reused";
                };
            };
        };
        /** @description Bad request. */
        bad_request: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "bad_request";
                };
            };
        };
        /** @description No such calendar; or no such path. */
        calendar_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "calendar_not_found" | "not_found";
                };
            };
        };
        /** @description Not allowed; or refused for where it comes from. */
        forbidden_or_foreign_origin: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "forbidden" | "foreign_origin";
                };
            };
        };
        /** @description Refused for where it comes from. */
        foreign_origin: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "foreign_origin";
                };
            };
        };
        /** @description Still in use. */
        in_use: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "in_use";
                };
            };
        };
        /** @description Mistake of the server. */
        internal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "internal";
                };
            };
        };
        /** @description Invalid workflow; or workflows call each other in a circle; or another name. */
        invalid_workflow_or_workflow_circle_or_name_mismatch: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "invalid_workflow" | "workflow_circle" | "name_mismatch";
                };
            };
        };
        /** @description No such job; or no such workflow. */
        job_not_found_or_workflow_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "job_not_found" | "workflow_not_found";
                };
            };
        };
        /** @description No such job; or no such workflow; or no such path. */
        job_not_found_or_workflow_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "job_not_found" | "workflow_not_found" | "not_found";
                };
            };
        };
        /** @description Idempotency key used for another request. */
        key_reused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "key_reused";
                };
            };
        };
        /** @description Name is taken. */
        name_taken: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "name_taken";
                };
            };
        };
        /** @description No such path. */
        not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "not_found";
                };
            };
        };
        /** @description Not there yet. */
        not_yet_supported: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "not_yet_supported";
                };
            };
        };
        /** @description No such pool; or no such path. */
        pool_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "pool_not_found" | "not_found";
                };
            };
        };
        /** @description No such run; or no such job; or no such attempt; or no log; or no such path. */
        run_not_found_or_job_not_found_or_attempt_not_found_or_log_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "run_not_found" | "job_not_found" | "attempt_not_found" | "log_not_found" | "not_found";
                };
            };
        };
        /** @description No such run; or no such job; or no such path. */
        run_not_found_or_job_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "run_not_found" | "job_not_found" | "not_found";
                };
            };
        };
        /** @description No such run; or no such path. */
        run_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "run_not_found" | "not_found";
                };
            };
        };
        /** @description No such schedule; or no such path. */
        schedule_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "schedule_not_found" | "not_found";
                };
            };
        };
        /** @description Not in this state. */
        state_conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "state_conflict";
                };
            };
        };
        /** @description Not in this state; or workflow is disabled. */
        state_conflict_or_workflow_disabled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "state_conflict" | "workflow_disabled";
                };
            };
        };
        /** @description No such token; or no such path. */
        token_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "token_not_found" | "not_found";
                };
            };
        };
        /** @description Too large. */
        too_large: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "too_large";
                };
            };
        };
        /** @description Too many requests. */
        too_many_requests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "too_many_requests";
                };
            };
        };
        /** @description No such trigger; or no such path. */
        trigger_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "trigger_not_found" | "not_found";
                };
            };
        };
        /** @description Not logged in. */
        unauthenticated: {
            headers: {
                /** @description How to log in. */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "unauthenticated";
                };
            };
        };
        /** @description Not available now. */
        unavailable: {
            headers: {
                /** @description Seconds until it is worth another try. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "unavailable";
                };
            };
        };
        /** @description Not in this format. */
        unsupported_media_type: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "unsupported_media_type";
                };
            };
        };
        /** @description Changed in the meantime. */
        version_mismatch: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "version_mismatch";
                };
            };
        };
        /** @description No such worker; or no such path. */
        worker_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "worker_not_found" | "not_found";
                };
            };
        };
        /** @description Workflows call each other in a circle; or idempotency key used for another request; or nothing to run; or too many firings. */
        workflow_circle_or_key_reused_or_nothing_to_run_or_too_many_firings: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "workflow_circle" | "key_reused" | "nothing_to_run" | "too_many_firings";
                };
            };
        };
        /** @description Workflow is disabled. */
        workflow_disabled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "workflow_disabled";
                };
            };
        };
        /** @description No such workflow. */
        workflow_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "workflow_not_found";
                };
            };
        };
        /** @description No such workflow; or no such path. */
        workflow_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "workflow_not_found" | "not_found";
                };
            };
        };
        /** @description No such workflow; or no such trigger; or no such path. */
        workflow_not_found_or_trigger_not_found_or_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "workflow_not_found" | "trigger_not_found" | "not_found";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    ui: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["foreign_origin"];
        };
    };
    docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["foreign_origin"];
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Anything"];
                };
            };
            403: components["responses"]["foreign_origin"];
        };
    };
    test_alerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestAlerts"];
            };
        };
        responses: {
            /** @description What came of each. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestedAlerts"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_backfills: {
        parameters: {
            query?: {
                /** @description Only those of this workflow. */
                workflow?: string;
                /** @description At most this many, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some campaigns. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    create_backfill: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks around them do not count. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBackfill"];
            };
        };
        responses: {
            /** @description The plan. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillPlan"];
                };
            };
            /** @description The campaign. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found"];
            409: components["responses"]["workflow_disabled"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["workflow_circle_or_key_reused_or_nothing_to_run_or_too_many_firings"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a backfill: 13 characters. */
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["backfill_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    pause_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a backfill: 13 characters. */
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The campaign as it is then. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["backfill_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    resume_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a backfill: 13 characters. */
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The campaign as it is then. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["backfill_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    stop_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a backfill: 13 characters. */
                backfill: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The campaign as it is then. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["backfill_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    backup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A SQLite database. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.sqlite3": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            429: components["responses"]["too_many_requests"];
            500: components["responses"]["internal"];
            501: components["responses"]["not_yet_supported"];
            503: components["responses"]["unavailable"];
        };
    };
    list_calendars: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some calendars. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalendarPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_calendar: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a calendar. */
                calendar: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The calendar. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calendar"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["calendar_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    set_calendar: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a calendar. */
                calendar: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetCalendar"];
            };
        };
        responses: {
            /** @description The calendar. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calendar"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    delete_calendar: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a calendar. */
                calendar: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["calendar_not_found_or_not_found"];
            409: components["responses"]["in_use"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cluster. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    cron_next: {
        parameters: {
            query: {
                /** @description The rule. */
                expr: string;
                /** @description The zone; UTC unless told. */
                tz?: string;
                /** @description Strictly after this moment; now unless told. */
                from?: components["schemas"]["Time"];
                /** @description How many, up to 1000; 5 unless told. */
                count?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The moments, in order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronNext"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    events: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that was seen, from a reader that comes back. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    import_crontab: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportCrontab"];
            };
        };
        responses: {
            /** @description The workflows, and what became of each line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportedCrontab"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_pools: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some pools. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a pool. */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pool"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["pool_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    set_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a pool. */
                pool: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPool"];
            };
        };
        responses: {
            /** @description The pool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pool"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    delete_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a pool. */
                pool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["pool_not_found_or_not_found"];
            409: components["responses"]["in_use"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: components["schemas"]["RunState"];
                /** @description Only those of this workflow. */
                workflow?: string;
                /** @description Only those created at or after this moment; a duration such as `2h` is one that long ago. */
                since?: string;
                /** @description Only those whose id begins so. */
                id_prefix?: string;
                /** @description At most this many, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    create_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks around them do not count. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRun"];
            };
        };
        responses: {
            /** @description The run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["job_not_found_or_workflow_not_found"];
            409: components["responses"]["workflow_disabled"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["bad_params_or_invalid_workflow_or_workflow_circle_or_key_reused"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    run_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that was seen, from a reader that comes back. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    run_graph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tasks, what waits for what, and where each is drawn. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Graph"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_jobs: {
        parameters: {
            query?: {
                /** @description Only those of this task. */
                task?: string;
                /** @description Only those in this state. */
                state?: components["schemas"]["JobState"];
                /** @description Only those with this number or a later one. */
                from?: number;
                /** @description At most this many, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some jobs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    read_log: {
        parameters: {
            query?: {
                /** @description The first line wanted, from 1. */
                from_line?: number;
                /** @description Instead: begin so many lines before the end. */
                tail?: number;
                /** @description At most this many, up to 1000; 1000 unless told. */
                limit?: number;
                /** @description Go on with what is printed from now on. */
                follow?: boolean;
                /**
                 * @description Only lines with this text, whatever its case and colours. A page may then have none, and still be followed by
                 *     more: go on with `next_line` until `complete`. Not with `tail` or `follow`.
                 */
                contains?: string;
                /**
                 * @description Only lines of this level and worse, in pages as with `contains`. A line has the level that it names near its
                 *     beginning, as programs print it; if it names none, standard error counts as `warn` and standard output as `info`.
                 */
                level?: "debug" | "info" | "warn" | "error";
            };
            header?: {
                /** @description The id of the last event that was seen, from a reader that comes back. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
                /** @description Number of an attempt of its job, from 1. */
                attempt: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some lines, or a stream of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_attempt_not_found_or_log_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    why: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reasons, the first to look at first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    approve_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Verdict"];
            };
        };
        responses: {
            /** @description The run of the job as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    force_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The run of the job as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    reject_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Verdict"];
            };
        };
        responses: {
            /** @description The run of the job as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    retry_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
                /** @description Number of a job in its run, from 0. */
                job: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The run of the job as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_tasks: {
        parameters: {
            query?: {
                /** @description Only this one. */
                task?: string;
                /** @description Also count slices of the jobs of each `foreach` task, at most so many of each task. */
                parts?: number;
            };
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tasks, in the order of the definition. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_job_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    pause_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The run as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    recover_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Recover"];
            };
        };
        responses: {
            /** @description The run as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    rerun: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks around them do not count. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The new run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            409: components["responses"]["state_conflict_or_workflow_disabled"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["bad_params_or_key_reused"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    resume_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The run as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    stop_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run: 13 characters. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The run as it was when this was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["run_not_found_or_not_found"];
            409: components["responses"]["state_conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_scheduler: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How it stands. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scheduler"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                /** @description Only those of this workflow. */
                workflow?: string;
                /** @description At most this many, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some schedules. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a schedule, `WORKFLOW@NAME`, percent-encoded. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["schedule_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_firings: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a schedule, `WORKFLOW@NAME`, percent-encoded. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some rows of the ledger. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["schedule_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    schedule_next: {
        parameters: {
            query?: {
                /** @description How many, up to 1000; 5 unless told. */
                count?: number;
            };
            header?: never;
            path: {
                /** @description Id of a schedule, `WORKFLOW@NAME`, percent-encoded. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The moments, in order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronNext"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["schedule_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    pause_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a schedule, `WORKFLOW@NAME`, percent-encoded. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["schedule_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    resume_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a schedule, `WORKFLOW@NAME`, percent-encoded. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["schedule_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some tokens, without their secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks around them do not count. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateToken"];
            };
        };
        responses: {
            /** @description The token and its secret, which is shown only now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            409: components["responses"]["name_taken"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["key_reused"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of a token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["token_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_triggers: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some triggers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunTriggerPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a trigger that is called. */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunTrigger"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["trigger_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    set_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a trigger that is called. */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetTrigger"];
            };
        };
        responses: {
            /** @description The trigger, and its secret if that is new. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetTriggerAnswer"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["bad_params"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    fire_trigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 ASCII characters that stand for this one request: a repeat gets the first one's answer. Blanks around them do not count. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of a trigger that is called. */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Anything"];
            };
        };
        responses: {
            /** @description The run. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fired"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_trigger_not_found_or_not_found"];
            409: components["responses"]["workflow_disabled"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["bad_params_or_key_reused"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    delete_trigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a trigger that is called. */
                trigger: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["trigger_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_workers: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some workers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of a worker. */
                worker: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The worker. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["worker_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    drain_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of a worker. */
                worker: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The worker. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["worker_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    resume_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of a worker. */
                worker: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The worker. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["worker_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_workflows: {
        parameters: {
            query?: {
                /** @description At most this many, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some workflows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSummaryPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_workflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of what the caller has: if that is what there is, the answer is 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            /** @description It is as the caller knows it. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    put_workflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description Store it only if this is the ETag of what is stored; `*`: only if something is. */
                "If-Match"?: string;
                /** @description `*`: store it only if there is no workflow of that name. */
                "If-None-Match"?: "*";
            };
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        /** @description A workflow in the shape of a workflow file. */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/yaml": unknown;
            };
        };
        responses: {
            /** @description Nothing changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
            /** @description A version was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["not_found"];
            412: components["responses"]["version_mismatch"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid_workflow_or_workflow_circle_or_name_mismatch"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    delete_workflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description Delete it only if this is the ETag of what is stored. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            409: components["responses"]["in_use"];
            412: components["responses"]["version_mismatch"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    dependencies: {
        parameters: {
            query?: {
                /** @description A task of it; without one the workflow itself, among other workflows. */
                task?: string;
                /** @description Only one way; both unless told. */
                direction?: components["schemas"]["Direction"];
            };
            header?: never;
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Both ways, nearest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dependencies"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["job_not_found_or_workflow_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    workflow_graph: {
        parameters: {
            query?: {
                /** @description A version of it; the current one unless told. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tasks, what waits for what, and where each is drawn. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Graph"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    list_versions: {
        parameters: {
            query?: {
                /** @description At most this many items, up to 1000; 100 unless told. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Some versions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowVersionPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    show_version: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of what the caller has: if that is what there is, the answer is 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Name of a workflow. */
                workflow: string;
                /** @description Number of a version, from 1. */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            /** @description It is as the caller knows it. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    disable_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The workflow. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSummary"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    enable_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The workflow. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSummary"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            404: components["responses"]["workflow_not_found_or_not_found"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    validate_workflow: {
        parameters: {
            query?: {
                /** @description Whether to draw it too. */
                graph?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A workflow in the shape of a workflow file. */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/yaml": unknown;
            };
        };
        responses: {
            /** @description What is wrong with it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validation"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    ui_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a file of the web UI. */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file; its name has a hash of its content, so it never changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": string;
                    "text/css": string;
                    "image/svg+xml": string;
                };
            };
            403: components["responses"]["foreign_origin"];
            404: components["responses"]["not_found"];
        };
    };
    documents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            403: components["responses"]["foreign_origin"];
        };
    };
    document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Path of a document below `/docs`, such as `get-started`; it may have slashes. */
                page: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or a file as it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                    "text/css": string;
                    "application/json": string;
                    "text/plain": string;
                };
            };
            403: components["responses"]["foreign_origin"];
            404: components["responses"]["not_found"];
        };
    };
    livez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            403: components["responses"]["foreign_origin"];
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text format of Prometheus. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It can. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            403: components["responses"]["foreign_origin"];
            /** @description It cannot; each check says why. */
            503: {
                headers: {
                    /** @description Seconds until it is worth another try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    start_scheduler: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It was switched. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Switched"];
                };
            };
            /** @description There was nothing to do. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotSwitched"];
                    "application/problem+json": components["schemas"]["Problem"] & {
                        /** @enum {string} */
                        code?: "bad_request";
                    };
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    stop_scheduler: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It was switched. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Switched"];
                };
            };
            /** @description There was nothing to do. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotSwitched"];
                    "application/problem+json": components["schemas"]["Problem"] & {
                        /** @enum {string} */
                        code?: "bad_request";
                    };
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden_or_foreign_origin"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
}
