package io.penstock.lab.plan;

import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.PlanCommand;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.SerializationFeature;

/// `penstock plan` with the rules of engines: the command of the node also answers recorded cases, and checks files of
/// them.
@Command(
    name = "plan",
    description = {PlanCheckCommand.WHAT,
      "",
      "It reads JSON from standard input: a model, two sides and a request, as in the first example, or a recorded "
          + "case, a list of those, or a whole file of cases. " + PlanCheckCommand.PRINTS,
      "",
      PlanCheckCommand.FIELDS,
      "",
      PlanCheckCommand.TABLE,
      "",
      "With --check it runs the rules of engines over recorded cases. The fields of a case tell its kind; the name of "
          + "its file does not. A case has its inputs, and beside them the answer that the engine gave. The page "
          + "pipeline/docs/disaggregation.md lists all kinds.",
      "",
      "It exits with 1 if the sides of a case do not fit or a case differs from its rule, with 65 if standard input is "
          + "not of its form, and, with --check, with 2 if a file cannot be read, or a case is of no known kind or "
          + "malformed.",
      ""},
    footer = {PlanCheckCommand.EXAMPLE,
      "  echo '{\"input\": {\"num_layers\": 61, \"pp_size\": 2, \"partition\": null}}' |", "    penstock plan",
      "  penstock plan --json < cases.json", "  penstock plan --check cases/*.json",
      ""})
public final class PlanCheckCommand extends PlanCommand {
  private final Console console;

  @Option(names = "--check", paramLabel = "FILE", arity = "1..*",
      description = "Files of recorded cases to check, instead of a plan.")
  private List<String> files = List.of();

  /// @param section list that the case stands in
  /// @param number of the case in that list
  private record Answered(String kind, String section, int number, Map<String, Object> answer) {}

  PlanCheckCommand(Console console) {
    super(console);
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (files.isEmpty()) {
      return super.call();
    } else if (svg() != null) {
      throw new IllegalArgumentException("--svg must be left out with --check (was " + svg() + ")");
    }
    refuseFlags("with --check, for the files state what is checked");
    return check();
  }

  private int check() {
    int code = ExitCode.OK;
    for (String file : files) {
      CaseCheck check = CaseCheck.of(file);
      if (isJson()) {
        console.json(check);
      } else if (!check.isUnreadable()) {
        check.differences().forEach(found -> console.print(file + ", " + found.message()));
        console.print("%s: %s (%s), %s%s".formatted(file, Plural.of(check.cases(), "case"), kinds(check.kinds()),
            Plural.of(check.differences().size(), "difference"),
            check.faults().isEmpty() ? "" : ", " + check.faults().size() + " not checked"));
      }
      check.faults().forEach(fault -> console.say("plan: " + (fault.isOfFile() ? "" : file + ", ") + fault.message()));
      code = Math.max(code, !check.faults().isEmpty()
          ? ExitCode.USAGE
          : check.differences().isEmpty() ? ExitCode.OK : ExitCode.FOUND_FAILURE);
    }
    return code;
  }

  private static String kinds(Map<String, Integer> kinds) {
    return kinds.isEmpty()
        ? "none"
        : kinds.entrySet().stream().map(kind -> kind.getKey() + " " + kind.getValue())
            .collect(Collectors.joining(", "));
  }

  @Override
  public Optional<TransferPlan> planned(Case one) {
    return super.planned(one).or(() -> CaseRules.plan(one).map(plan -> plan.apply(one)));
  }

  /// Prints the answer of a rule that is no plan of transfers.
  @Override
  protected void answer(Case one) {
    CaseRule rule = CaseRules.of(one).orElseThrow(() -> new IllegalArgumentException(
        "case must be a plan's input or of a known kind (was %s)".formatted(Case.shortened(one.json().toString()))));
    console.print(Json.MAPPER.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
        .writeValueAsString(new Answered(rule.kind(), one.section(), one.number(), rule.answer().of(one))));
  }
}
