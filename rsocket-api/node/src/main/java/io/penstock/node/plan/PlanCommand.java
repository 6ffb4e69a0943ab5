package io.penstock.node.plan;

import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.SerializationFeature;

/// `penstock plan`: the plan of a request between two sides, and a check of recorded cases.
@Command(
    name = "plan",
    description = {"Plans which rank sends what to which when prefill and decode run with different parallelism.",
      "",
      "It reads JSON from standard input: a model, two sides and a request, as in the first example, or a recorded "
          + "case, a list of those, or a whole file of cases. It prints every transfer with its layers, heads and "
          + "blocks, how many completions each rank waits for, and which prefill ranks are never pulled.",
      "",
      "Fields of the model: layers, kvHeads, headDim (or latentRank and ropeDim for MLA), type (bf16), draftLayers, "
          + "windowTokens, or groups with layers (a list) and a shape each. Fields of a side: tp, pp, pcp, dcp, dp "
          + "(1), blockTokens (16), order (nhd or hnd), stageLayers (a list); a side may also state fields of the "
          + "model, but not windowTokens and groups. Fields of the request: id, promptTokens, cachedTokens (0).",
      "",
      "The table calls a rank pp1.cp0.tp3: its stage, context and tensor-parallel number. Its column BLOCKS has runs "
          + "of blocks, from the source to the destination: 0-3>4-7 copies blocks 0 to 3 of the source into blocks 4 "
          + "to 7 of the destination. Blocks are counted in each rank's own list, the cached prefix included. 0>2@32>0 "
          + "copies tokens of block 0 from its token 32 on, into block 2 from its token 0 on.",
      "",
      "With --check it runs the rules of engines over recorded cases. The fields of a case tell its kind; the name of "
          + "its file does not. A case has its inputs, and beside them the answer that the engine gave. The page "
          + "pipeline/docs/disaggregation.md lists all kinds.",
      "",
      "It exits with 1 if the sides of a case do not fit or a case differs from its rule, with 65 if standard input is "
          + "not of its form, and, with --check, with 2 if a file cannot be read, or a case is of no known kind or "
          + "malformed.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  echo '{\"model\": {\"layers\": 4, \"kvHeads\": 8, \"headDim\": 128},", "    \"prefill\": {\"tp\": 4, "
        + "\"pp\": 2, \"blockTokens\": 128},",
      "    \"decode\": {\"tp\": 2, \"blockTokens\": 16},",
      "    \"request\": {\"id\": \"a\", \"promptTokens\": 300, \"cachedTokens\": 16}}' |",
      "    penstock plan --svg plan.svg",
      "  echo '{\"input\": {\"num_layers\": 61, \"pp_size\": 2, \"partition\": null}}' |", "    penstock plan",
      "  penstock plan --json < cases.json", "  penstock plan --check cases/*.json",
      ""})
public final class PlanCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--check", paramLabel = "FILE", arity = "1..*",
      description = "Files of recorded cases to check, instead of a plan.")
  private List<String> files = List.of();

  @Option(names = "--svg", paramLabel = "FILE",
      description = "Draw the plan of the one case there: ranks, and arrows between them.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print the result for machines, a line for each case or file.")
  private boolean json;

  /// @param section list that the case stands in
  /// @param number of the case in that list
  private record Answered(String kind, String section, int number, Map<String, Object> answer) {}

  /// @param section list that the case stands in
  /// @param number of the case in that list
  /// @param refused why it has no plan
  private record Refused(String section, int number, Misfit refused) {}

  /// Two fields that do not go together.
  private record Misfit(String field, Object value, String otherField, Object otherValue, String message) {}

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

  private int plan(@Nullable OutputFile picture) throws IOException {
    List<Case> cases = read();
    if (picture != null && cases.size() != 1) {
      throw new IllegalArgumentException(
          "--svg must be left out unless standard input has one case (was %d cases)".formatted(cases.size()));
    }
    int code = ExitCode.OK;
    for (Case one : cases) {
      String name = cases.size() == 1 ? "" : one.name() + ": ";
      try {
        Optional<TransferPlan> plan = planned(one);
        plan.ifPresentOrElse(found -> print(one, cases.size(), found), () -> answer(one));
        if (picture != null) {
          draw(picture, plan);
        }
      } catch (PlanRefusedException e) {
        refuse(one, name, e);
        code = ExitCode.FOUND_FAILURE;
      } catch (FieldException | IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
        throw new DataException("standard input: " + name + Case.reason(e), e);
      }
    }
    return code;
  }

  private List<Case> read() throws IOException {
    try {
      return Case.read(new String(console.in().readAllBytes(), StandardCharsets.UTF_8));
    } catch (DataException e) {
      throw new DataException("standard input " + e.getMessage(), e);
    }
  }

  private static Optional<TransferPlan> planned(Case one) {
    return PlanInput.fits(one.json())
        ? Optional.of(PlanInput.plan(one))
        : CaseRules.plan(one).map(plan -> plan.apply(one));
  }

  private void print(Case one, int cases, TransferPlan plan) {
    if (json) {
      console.json(PlanDocument.of(one, plan));
    } else {
      console.print((cases > 1 ? one.name() + "\n" : "") + PlanTable.of(plan) + (cases > 1 ? "\n" : ""));
    }
  }

  private void draw(OutputFile picture, Optional<TransferPlan> plan) throws IOException {
    picture.write(PlanPicture.of(plan.orElseThrow(() -> new DataException(
        "standard input must have two sides and a request to draw with --svg (was a case of one rule)")))
        .getBytes(StandardCharsets.UTF_8));
    console.say("picture: " + picture);
  }

  private void refuse(Case one, String name, PlanRefusedException e) {
    String message = String.valueOf(e.getMessage());
    console.say("plan: " + name + message);
    if (json) {
      console.json(new Refused(one.section(), one.number(),
          new Misfit(e.field(), e.value(), e.otherField(), e.otherValue(), message)));
    }
  }

  /// What a rule says that is no plan of transfers.
  private void answer(Case one) {
    CaseRule rule = CaseRules.of(one).orElseThrow(() -> new IllegalArgumentException(
        "case must be a plan's input or of a known kind (was %s)".formatted(Case.shortened(one.json().toString()))));
    console.print(Json.MAPPER.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
        .writeValueAsString(new Answered(rule.kind(), one.section(), one.number(), rule.answer().of(one))));
  }
}
