package io.penstock.node.plan;

import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Json;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.cli.Plural;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;

/// `penstock plan`: the plan of a request between two sides, and a check of recorded cases.
@Command(
    name = "plan",
    description = {"Plans which rank sends what to which when prefill and decode run with different parallelism.",
      "",
      "It reads JSON from standard input: a model, two sides and a request, as in the example, or a recorded case, a "
          + "list of those, or a whole file of cases. It prints every transfer with its layers, heads and blocks, how "
          + "many completions each rank waits for, and which prefill ranks are never pulled.",
      "",
      "Fields of the model: layers, kvHeads, headDim (or latentRank and ropeDim for MLA), type (bf16), draftLayers, "
          + "windowTokens, or groups with layers (a list) and a shape each. Fields of a side: tp, pp, pcp, dcp, dp "
          + "(1), blockTokens (16), order (nhd or hnd), stageLayers (a list); a side may also state fields of the "
          + "model, but not windowTokens and groups.",
      "",
      "With --check it runs the rules over recorded cases. The fields of a case tell its kind; the name of its file "
          + "does not. It exits with 1 if a case differs from its rule, and with 2 if a file cannot be read, or a case "
          + "is of no known kind or malformed.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  echo '{\"model\": {\"layers\": 4, \"kvHeads\": 8, \"headDim\": 128},", "    \"prefill\": {\"tp\": 4, "
        + "\"pp\": 2, \"blockTokens\": 128},",
      "    \"decode\": {\"tp\": 2, \"blockTokens\": 16},",
      "    \"request\": {\"id\": \"a\", \"promptTokens\": 300, \"cachedTokens\": 16}}' |",
      "    penstock plan --svg plan.svg", "  penstock plan --json < cases.json", "  penstock plan --check cases/*.json",
      ""})
public final class PlanCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--check", paramLabel = "FILE", arity = "1..*",
      description = "Files of recorded cases to check, instead of a plan.")
  private List<String> files = List.of();

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the plan there: ranks, and arrows between them.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print the result for machines, a line for each case or file.")
  private boolean json;

  /// @param number of the case
  private record Answered(String kind, int number, Map<String, Object> answer) {}

  /// @param number of the case
  /// @param refused why it has no plan
  private record Refused(int number, String refused) {}

  PlanCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (files.isEmpty()) {
      return plan(svg == null ? null : OutputFile.of("--svg", svg));
    } else if (svg != null) {
      throw new IllegalArgumentException("--svg must be left out with --check (was " + svg + ")");
    }
    return check();
  }

  private int check() {
    int code = ExitCode.OK;
    for (String file : files) {
      CaseCheck check = CaseCheck.of(file);
      if (json) {
        console.json(check);
      } else {
        check.differences().forEach(found -> console.print(file + ", " + found));
        console.print("%s: %s (%s), %s".formatted(file, Plural.of(check.cases(), "case"), kinds(check.kinds()),
            Plural.of(check.differences().size(), "difference")));
      }
      check.faults().forEach(fault -> console.say("plan: " + file + ", " + fault));
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

  private int plan(@Nullable OutputFile picture) throws IOException {
    List<Case> cases = Case.read(new String(console.in().readAllBytes(), StandardCharsets.UTF_8));
    List<TransferPlan> plans = new ArrayList<>();
    int code = ExitCode.OK;
    for (Case one : cases) {
      try {
        Optional<TransferPlan> plan = planned(one);
        plan.ifPresent(plans::add);
        plan.ifPresentOrElse(found -> print(one, cases.size(), found), () -> answer(one));
      } catch (PlanRefusedException e) {
        console.say("plan: %s is refused: %s".formatted(one.name(), e.getMessage()));
        if (json) {
          console.json(new Refused(one.number(), String.valueOf(e.getMessage())));
        }
        code = ExitCode.FOUND_FAILURE;
      } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
        throw new DataException("standard input, %s cannot be computed: %s".formatted(one.name(), e.getMessage()), e);
      } catch (JacksonException e) {
        throw new DataException("standard input, %s is malformed: %s".formatted(one.name(), e.getOriginalMessage()), e);
      }
    }
    if (picture != null) {
      if (plans.size() != 1 || code != ExitCode.OK) {
        throw new DataException("--svg must have one plan to draw (was " + plans.size() + ")");
      }
      picture.write(PlanPicture.of(plans.getFirst()).getBytes(StandardCharsets.UTF_8));
      console.say("picture: " + picture);
    }
    return code;
  }

  private static Optional<TransferPlan> planned(Case one) {
    return PlanInput.fits(one.json())
        ? Optional.of(PlanInput.plan(one))
        : CaseRules.plan(one).map(plan -> plan.apply(one));
  }

  private void print(Case one, int cases, TransferPlan plan) {
    if (json) {
      console.json(PlanDocument.of(plan));
    } else {
      console.print((cases > 1 ? one.name() + "\n" : "") + PlanTable.of(plan) + (cases > 1 ? "\n" : ""));
    }
  }

  /// What a rule says that is no plan of transfers.
  private void answer(Case one) {
    CaseRule rule = CaseRules.of(one).orElseThrow(() -> new DataException(
        "standard input, %s must be a plan's input or a case of a known kind (was %s)".formatted(one.name(),
            Case.shortened(one.json().toString()))));
    console.print(Json.MAPPER.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
        .writeValueAsString(new Answered(rule.kind(), one.number(), rule.answer().of(one))));
  }
}
