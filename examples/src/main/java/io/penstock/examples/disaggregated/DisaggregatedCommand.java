package io.penstock.examples.disaggregated;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.check.Checks;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.node.ChildLoop;
import io.penstock.examples.disaggregated.node.DecodeNode;
import io.penstock.examples.disaggregated.node.Network;
import io.penstock.examples.disaggregated.node.Nodes;
import io.penstock.examples.disaggregated.node.Peer;
import io.penstock.examples.disaggregated.node.PrefillNode;
import io.penstock.examples.disaggregated.node.Reply;
import io.penstock.examples.disaggregated.node.Setup;
import io.penstock.examples.disaggregated.node.TierKind;
import io.penstock.examples.disaggregated.node.TierMaker;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.SafetensorsFolder;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import io.penstock.storage.EngineKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `penstock example disaggregated`.
@Command(name = "disaggregated", mixinStandardHelpOptions = true,
    description = {"Runs a small transformer twice: in one rank, and as prefill and decode processes with other"
        + " parallelism. Each rank loads its own part of the weights, and the caches go from rank to rank over TCP as"
        + " the planner says. Prints both texts, when each layer was computed and transferred, and whether all logits"
        + " are equal bit for bit.",
      "",
      "Each side has a tensor-parallel (TP), pipeline (PP), prefill context (PCP) and decode context (DCP) parallelism"
          + " of its own, and at most 64 ranks. The row `draft` of the time line is the layer of the draft head.",
      ""},
    footer = {"", "Examples:", "  penstock example disaggregated --mode push --svg layers.svg",
      "  penstock example disaggregated --prefill 2 --decode 2 --prefill-tp 8 --decode-tp 2 --mla --decode-dcp 2"
          + " --mode pull",
      "  penstock example disaggregated --write-model ./tiny --seed 7",
      "  penstock example disaggregated --model ./tiny --prefill-pp 2 --block-size 16 --decode-block-size 64"})
public final class DisaggregatedCommand implements Callable<Integer> {
  enum Mode {
    PUSH, PULL
  }

  enum Role {
    PREFILL, DECODE
  }

  enum Layout {
    NHD, HND
  }

  /// Maximum number of processes; each is a JVM.
  private static final int MOST_PROCESSES = 16;
  /// Maximum number of requests; each rank has memory for all of them.
  private static final int MOST_REQUESTS = 1_000;
  private static final int MOST_TURNS = 100;
  private static final Duration DEADLINE = Duration.ofMinutes(1);

  private final Console console;

  @Spec
  private @Nullable CommandSpec spec;

  @Option(names = "--prefill", paramLabel = "N", defaultValue = "1",
      description = "Prefill processes, 16 at most (default: ${DEFAULT-VALUE}).")
  private int prefills;

  @Option(names = "--decode", paramLabel = "N", defaultValue = "1",
      description = "Decode processes, 16 at most (default: ${DEFAULT-VALUE}).")
  private int decodes;

  @Option(names = "--prefill-tp", paramLabel = "N", defaultValue = "4",
      description = "Tensor-parallel ranks of a prefill (default: ${DEFAULT-VALUE}).")
  private int prefillTp;

  @Option(names = "--decode-tp", paramLabel = "N", defaultValue = "2",
      description = "Tensor-parallel ranks of a decode (default: ${DEFAULT-VALUE}).")
  private int decodeTp;

  @Option(names = "--prefill-pp", paramLabel = "N", defaultValue = "1",
      description = "Pipeline stages of a prefill (default: ${DEFAULT-VALUE}).")
  private int prefillPp;

  @Option(names = "--decode-pp", paramLabel = "N", defaultValue = "1",
      description = "Pipeline stages of a decode (default: ${DEFAULT-VALUE}).")
  private int decodePp;

  @Option(names = "--prefill-pcp", paramLabel = "N", defaultValue = "1",
      description = "Ranks of a prefill that share the tokens of a prompt: prefill context parallelism"
          + " (default: ${DEFAULT-VALUE}).")
  private int prefillPcp;

  @Option(names = "--prefill-dcp", paramLabel = "N", defaultValue = "1",
      description = "Tensor-parallel ranks of a prefill that have equal KV heads and share the tokens"
          + " (default: ${DEFAULT-VALUE}).")
  private int prefillDcp;

  @Option(names = "--decode-pcp", paramLabel = "N", defaultValue = "1",
      description = "Prefill context parallelism of a decode, like --prefill-pcp (default: ${DEFAULT-VALUE}).")
  private int decodePcp;

  @Option(names = "--decode-dcp", paramLabel = "N", defaultValue = "1",
      description = "Decode context parallelism of a decode, like --prefill-dcp. It must divide the ranks "
          + "with equal KV heads (default: ${DEFAULT-VALUE}).")
  private int decodeDcp;

  /// The common short names; options that the help leaves out.
  @Option(names = "--pcp", hidden = true)
  private @Nullable Integer pcp;

  @Option(names = "--dcp", hidden = true)
  private @Nullable Integer dcp;

  @Option(names = "--block-size", paramLabel = "TOKENS", defaultValue = "16",
      description = "Tokens of a block, a multiple of 4 (default: ${DEFAULT-VALUE}).")
  private int blockTokens;

  @Option(names = "--decode-block-size", paramLabel = "TOKENS",
      description = "Tokens of a block on the decode side (default: as --block-size).")
  private @Nullable Integer decodeBlockTokens;

  @Option(names = "--layout", paramLabel = "ORDER", defaultValue = "NHD",
      description = "Order of tokens and heads in a block: nhd or hnd (default: ${DEFAULT-VALUE}).")
  private Layout layout = Layout.NHD;

  @Option(names = "--decode-layout", paramLabel = "ORDER", description = "Order of tokens and heads in a "
      + "block on the decode side (default: as --layout).")
  private @Nullable Layout decodeLayout;

  @Option(names = "--mode", paramLabel = "MODE", defaultValue = "push",
      description = "push: each layer is sent as soon as it is computed; pull: the decode rank asks once the prompt is"
          + " computed (default: ${DEFAULT-VALUE}).")
  private Mode mode = Mode.PUSH;

  @Option(names = "--prompt", paramLabel = "TEXT",
      defaultValue = "Water moves only as fast as the turbine asks for it: that is what a penstock does.",
      description = "First words of the text (default: ${DEFAULT-VALUE}).")
  private String prompt = "";

  @Option(names = "--tokens", paramLabel = "N", defaultValue = "24",
      description = "Maximum number of tokens generated, each a byte (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(names = "--draft-tokens", paramLabel = "N", defaultValue = "0",
      description = "Tokens that the model's draft head guesses a step; 0 decodes without it"
          + " (default: ${DEFAULT-VALUE}).")
  private int draftTokens;

  @Option(names = "--requests", paramLabel = "N", defaultValue = "2",
      description = "Requests, 1,000 at most, which go to the processes in turn; the number of each follows its prompt"
          + " (default: ${DEFAULT-VALUE}).")
  private int requests;

  @Option(names = "--chunk", paramLabel = "TOKENS", defaultValue = "512",
      description = "Maximum number of tokens that a prefill computes at a time (default: ${DEFAULT-VALUE}).")
  private int chunkTokens;

  @Option(names = "--layer-repeats", paramLabel = "N", defaultValue = "1",
      description = "Times that a prefill computes each layer: it takes as long as a larger model"
          + " (default: ${DEFAULT-VALUE}).")
  private int layerRepeats;

  @Option(names = "--tier", paramLabel = "KIND", defaultValue = "dram",
      description = "Tier of finished blocks: hbm (a simulated device), dram or ssd (default: "
          + "${DEFAULT-VALUE}).")
  private TierKind tier = TierKind.DRAM;

  @Option(names = "--mla",
      description = "Multi-head latent attention instead of grouped-query attention, without --model.")
  private boolean latent;

  @Option(names = "--model", paramLabel = "DIR",
      description = "Folder with config.json and model.safetensors, or files with an index: Llama, Mistral, Qwen 2 and"
          + " 3, Phi 3, GLM or DeepSeek V3 without experts. What is not computed is refused by name"
          + " (default: a small model made from --seed).")
  private @Nullable Path model;

  @Option(names = "--write-model", paramLabel = "DIR",
      description = "Only write the model made from --seed into this folder, which is made if it is not there.")
  private @Nullable Path writeModel;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
      description = "Seed of the weights, without --model (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--turns", paramLabel = "N", defaultValue = "1",
      description = "Turns of each request, which is a conversation then: the prefill of a turn pulls what the decode"
          + " computed in the turn before (default: ${DEFAULT-VALUE}).")
  private int turns;

  @Option(names = "--in-process", description = "All nodes in this process, still over TCP.")
  private boolean inProcess;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the time line of the first request there.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Prints all figures as JSON.")
  private boolean json;

  @Option(names = "--serve", paramLabel = "ROLE", hidden = true)
  private @Nullable Role serve;

  @Option(names = "--number", paramLabel = "N", defaultValue = "0", hidden = true)
  private int number;

  @Option(names = "--registry", paramLabel = "PORT", defaultValue = "0", hidden = true)
  private int registryPort;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public DisaggregatedCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    try {
      return run();
    } catch (ModelFileException e) {
      throw new DataException(String.valueOf(e.getMessage()), e);
    }
  }

  private int run() throws IOException {
    refuseBeside("--model", model, "--mla");
    refuseBeside("--model", model, "--seed");
    refuseBeside("--write-model", writeModel, "--model");
    if (writeModel != null) {
      if (SafetensorsFolder.isIn(writeModel)) {
        throw new IllegalArgumentException("--write-model must name a folder without a model (was " + writeModel + ")");
      }
      Model.write(config(), seed, writeModel);
      console.print("disaggregated: model in " + writeModel);
      return ExitCode.OK;
    }
    most("--prefill", prefills, MOST_PROCESSES);
    most("--decode", decodes, MOST_PROCESSES);
    most("--requests", requests, MOST_REQUESTS);
    most("--turns", turns, MOST_TURNS);
    if (requests * turns > MOST_REQUESTS) {
      throw new IllegalArgumentException(
          "--requests × --turns must be <= %d (was %d × %d)".formatted(MOST_REQUESTS, requests, turns));
    }
    Setup setup = setup();
    if (serve != null) {
      return serve(serve, setup);
    }
    Path recorded = record.folder();
    if (!inProcess && recorded != null) {
      Folders.requireEmpty("--record", recorded);
    }
    OutputFile image = svg == null ? null : OutputFile.of("--svg", svg);
    DisaggregatedReport report = report(setup);
    if (json) {
      console.json(report);
    } else {
      console.out().print(DisaggregatedTable.of(report));
    }
    if (image != null) {
      RequestReport first = report.requests().getFirst();
      image.write(new TimeLine(first.times(), report.layers())
          .svg(report.mode() + " from prefill: " + report.prefill(), "to decode: " + report.decode())
          .getBytes(StandardCharsets.UTF_8));
      console.say("time line in " + image);
    }
    return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static void most(String flag, int value, int most) {
    if (Checks.positive(flag, value) > most) {
      throw new IllegalArgumentException("%s must be <= %d (was %d)".formatted(flag, most, value));
    }
  }

  /// Refuses a flag that `other` makes meaningless.
  private void refuseBeside(String other, @Nullable Path given, String flag) {
    if (given != null && spec != null && spec.commandLine().getParseResult().hasMatchedOption(flag)) {
      throw new IllegalArgumentException("%s must be left out with %s (was given)".formatted(flag, other));
    }
  }

  private ModelConfig config() {
    return latent ? ModelConfig.tinyLatent() : ModelConfig.tiny();
  }

  private Setup setup() throws IOException {
    Model weights = model == null ? Model.seeded(config(), seed) : Model.read(model);
    Layout orderThere = decodeLayout == null ? layout : decodeLayout;
    Deployment prefill =
        new SideFlags("prefill", prefillTp, prefillPp, pcp == null ? prefillPcp : pcp, prefillDcp, "--block-size",
            blockTokens, TokenOrder.valueOf(layout.name())).deployment(weights);
    Deployment decode = new SideFlags("decode", decodeTp, decodePp, decodePcp, dcp == null ? decodeDcp : dcp,
        decodeBlockTokens == null ? "--block-size" : "--decode-block-size",
        decodeBlockTokens == null ? blockTokens : decodeBlockTokens, TokenOrder.valueOf(orderThere.name()))
        .deployment(weights);
    int longest = ByteTokenizer.encode(DisaggregatedRun.prompt(prompt, Math.max(0, requests - 1))).length;
    int last = Math.addExact(longest, Math.multiplyExact(turns - 1, tokens + DisaggregatedRun.more().length));
    return new Setup(prefill, decode, mode == Mode.PUSH, new Setup.Tokens(last, tokens, draftTokens),
        new Pace(chunkTokens, layerRepeats), Math.multiplyExact(requests, turns), LifecycleOptions.defaults(),
        DEADLINE);
  }

  private int serve(Role role, Setup setup) throws IOException {
    try (TemporaryFolder folder = TemporaryFolder.create("penstock-disaggregated-");
        TierRecording recording = record.begin("");
        TierMaker maker = maker(folder, recording);
        Network network = Network.create(role.name().toLowerCase(Locale.ROOT))) {
      try (Peer node = role == Role.PREFILL
          ? new PrefillNode(Nodes.prefillName(number), setup, registryPort, network, maker,
              DisaggregatedCommand::micros)
          : new DecodeNode(Nodes.decodeName(number), setup, registryPort, network, maker,
              DisaggregatedCommand::micros)) {
        new ChildLoop(console, node).run(Reply.DONE);
      }
    }
    return ExitCode.OK;
  }

  /// Comparable between processes of one machine.
  private static long micros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  private TierMaker maker(TemporaryFolder folder, @Nullable TierRecording recording) {
    return new TierMaker(tier, EngineKind.PLAIN, folder.path(), recording);
  }

  /// Arguments of this command without `--record`: each node records into a folder of its own.
  private List<String> ownArguments() {
    List<String> own = new ArrayList<>();
    boolean isFolder = false;
    for (String word : spec == null ? List.<String>of() : spec.commandLine().getParseResult().originalArgs()) {
      if (!isFolder && !word.equals("--record") && !word.startsWith("--record=")) {
        own.add(word);
      }
      isFolder = word.equals("--record");
    }
    return own;
  }

  private DisaggregatedReport report(Setup setup) throws IOException {
    DisaggregatedRun run = new DisaggregatedRun(setup, prefills, decodes, requests, turns, prompt);
    try (Progress progress = Progress.of(console, "disaggregated", "requests")) {
      progress.at(0, requests);
      if (!inProcess) {
        return run.run(Nodes.processes(ownArguments(), record.folder()),
            done -> progress.at(done, requests));
      }
      try (TemporaryFolder folder = TemporaryFolder.create("penstock-disaggregated-");
          TierRecording recording = record.begin("");
          TierMaker maker = maker(folder, recording)) {
        return run.run(Nodes.here(setup, maker, DisaggregatedCommand::micros), done -> progress.at(done, requests));
      }
    }
  }
}
