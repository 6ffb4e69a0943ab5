package io.penstock.node.plan;

import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.text.Terminal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock plan`: the plan of a request between two sides.
@Command(
    name = "plan",
    description = {PlanCommand.WHAT,
      "",
      "Options state a known model and the ranks of both sides. Without them it reads JSON from standard input: a "
          + "model, two sides and a request, as in the example, or a list of those. "
          + PlanCommand.PRINTS,
      "",
      PlanCommand.FIELDS,
      "",
      PlanCommand.TABLE,
      "",
      "It exits with 1 if the sides do not fit, and with 65 if standard input is not of its form.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {PlanCommand.EXAMPLE, ""})
public class PlanCommand implements Callable<Integer> {
  /// The first line of the help.
  public static final String WHAT =
      "Plans which rank sends what to which when prefill and decode run with different parallelism.";
  /// What a plan shows.
  public static final String PRINTS = "It prints every transfer with its layers, heads and blocks, how many "
      + "completions each rank waits for, and which prefill ranks are never pulled.";
  /// The fields of a plan's input.
  public static final String FIELDS = "Fields of the model: layers, kvHeads, headDim, valueDim (or latentRank "
      + "and ropeDim for MLA, or planes such as \"key 8x192 + value 8x128\"), type (bf16), draftLayers, windowTokens, "
      + "or groups with layers (a list) and a shape each, and state true for recurrent layers; name alone for a model "
      + "that penstock models lists. Fields of a "
      + "side: tp, pp, pcp, dcp, dp (1), blockTokens (16), order (nhd or hnd), stageLayers (a list); a side may also "
      + "state fields of the model, but not windowTokens and groups. Fields of the request: id, promptTokens, "
      + "cachedTokens (0).";
  /// How the table is read.
  public static final String TABLE = "The table calls a rank pp1.cp0.tp3: its stage, context and tensor-parallel "
      + "number. Its column BYTES counts the tokens of the plan, and MOVED what a rank sends: whole blocks, of which "
      + "the last may not be full. Its column BLOCKS has runs of blocks, from the source to the destination: 0-3>4-7 "
      + "copies blocks 0 to 3 of the source into blocks 4 to 7 of the destination. Blocks are counted in each rank's "
      + "own list, the cached prefix included. 0>2@32>0 copies tokens of block 0 from its token 32 on, into block 2 "
      + "from its token 0 on.";
  /// A plan's input, and a picture of the plan.
  public static final String EXAMPLE = "  penstock plan --model llama-3.1-8b --prefill-tp 8 --decode-tp 2\n\n"
      + "  echo '{\"model\": {\"layers\": 4, \"kvHeads\": 8, \"headDim\": 128},\n"
      + "    \"prefill\": {\"tp\": 4, \"pp\": 2, \"blockTokens\": 128},\n"
      + "    \"decode\": {\"tp\": 2, \"blockTokens\": 16},\n"
      + "    \"request\": {\"id\": \"a\", \"promptTokens\": 300, \"cachedTokens\": 16}}' |\n"
      + "    penstock plan --svg plan.svg";

  private final Console console;

  @Option(names = "--svg", paramLabel = "FILE",
      description = "Draw the plan of the one case there: ranks, and arrows between them.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print the result for machines, a line for each case or file.")
  private boolean json;

  @Mixin
  private final PlanFlags flags = new PlanFlags();

  /// @param section list that the case stands in
  /// @param number of the case in that list
  /// @param refused why it has no plan
  private record Refused(String section, int number, Misfit refused) {}

  /// Two fields that do not go together.
  private record Misfit(String field, Object value, String otherField, Object otherValue, String message) {}

  public PlanCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    return plan(svg == null ? null : OutputFile.of("--svg", svg));
  }

  /// The file that a plan is drawn into; null if none was named.
  public final @Nullable Path svg() {
    return svg;
  }

  /// Whether results are for machines.
  public final boolean isJson() {
    return json;
  }

  /// Refuses options that state an input.
  protected final void refuseFlags(String reason) {
    flags.requireNone(reason);
  }

  private int plan(@Nullable OutputFile picture) throws IOException {
    Optional<Case> stated = flags.stated();
    String source = stated.isPresent() ? "options: " : "standard input: ";
    List<Case> cases = stated.isPresent() ? List.of(stated.orElseThrow()) : read();
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
        throw new DataException(source + name + Case.reason(e), e);
      }
    }
    return code;
  }

  private List<Case> read() throws IOException {
    if (Terminal.isBehind(0)) {
      console.say("plan: reads JSON from standard input; --model, --prefill-tp and --decode-tp do without");
    }
    try {
      return Case.read(new String(console.in().readAllBytes(), StandardCharsets.UTF_8));
    } catch (DataException e) {
      throw new DataException("standard input " + e.getMessage(), e);
    }
  }

  /// The plan of a case.
  ///
  /// @return empty if the case is of another kind, see [#answer]
  public Optional<TransferPlan> planned(Case one) {
    return PlanInput.fits(one.json()) ? Optional.of(PlanInput.plan(one)) : Optional.empty();
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

  /// Prints what is known of a case that has no plan.
  ///
  /// @throws IllegalArgumentException if nothing is
  protected void answer(Case one) {
    throw new IllegalArgumentException(
        "case must have a model, prefill, decode and a request (was %s)"
            .formatted(Case.shortened(one.json().toString())));
  }
}
