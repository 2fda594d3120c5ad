/** Lines of a crontab as workflows, one each. Pure. */
import { stringify } from "yaml";

export interface Imported {
  name: string;
  text: string;
}

const WORDS = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

export function importCrontab(crontab: string): { workflows: Imported[]; passed: string[] } {
  const workflows: Imported[] = [];
  const passed: string[] = [];
  const env: Record<string, string> = {};
  let comment = "";
  for (const raw of crontab.split("\n")) {
    const line = raw.trim();
    const set = /^([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line);
    if (line === "") comment = "";
    else if (line.startsWith("#")) comment = line.replace(/^#+\s*/, "");
    else if (set?.[1]) env[set[1]] = (set[2] ?? "").replace(/^(["'])(.*)\1$/, "$2");
    else {
      const rule = ruleOf(line);
      if (!rule) passed.push(line);
      else {
        const name = unused(nameOf(rule.command), workflows);
        const description = comment || undefined;
        const zone = env.CRON_TZ ?? env.TZ;
        const schedule = zone ? { cron: rule.cron, timezone: zone } : rule.cron;
        const kept = Object.fromEntries(
          Object.entries(env).filter(([key]) => !["CRON_TZ", "TZ", "MAILTO", "SHELL"].includes(key)),
        );
        const definition = {
          name,
          ...(description && { description }),
          schedule,
          ...(Object.keys(kept).length > 0 && { env: kept }),
          tasks: { run: { run: rule.command } },
        };
        workflows.push({ name, text: stringify(definition, { lineWidth: 0 }) });
        comment = "";
      }
    }
  }
  return { workflows, passed };
}

function ruleOf(line: string): { cron: string; command: string } | null {
  const word = /^(@\w+)\s+(.+)$/.exec(line);
  if (word?.[1]) return WORDS.has(word[1]) ? { cron: word[1], command: word[2] ?? "" } : null;
  const fields = /^((?:\S+\s+){4}\S+)\s+(.+)$/.exec(line);
  // In a crontab a percent sign is the end of the command; such lines need a person.
  if (!fields?.[1] || !/^[\d*@]/.test(line) || /(^|[^\\])%/.test(fields[2] ?? "")) return null;
  return { cron: fields[1].replace(/\s+/g, " "), command: (fields[2] ?? "").replaceAll("\\%", "%") };
}

function nameOf(command: string): string {
  const program = command.split(/\s+/)[0]?.split("/").at(-1) ?? "";
  return (
    program
      .replace(/\.\w+$/, "")
      .replace(/[^A-Za-z0-9_.-]/g, "-")
      .replace(/^[^A-Za-z0-9_]+/, "") || "cron"
  );
}

function unused(name: string, taken: Imported[]): string {
  let tried = name;
  for (let count = 2; taken.some((each) => each.name === tried); count += 1) tried = `${name}-${count}`;
  return tried;
}
