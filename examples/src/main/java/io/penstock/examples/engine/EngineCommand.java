package io.penstock.examples.engine;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.PenstockNode;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import reactor.core.publisher.Mono;

/// `penstock example engine`.
@Command(name = "engine",
    description = {"Two sessions of an engine share the KV cache of a prompt through a node, and answer the same.", "",
      "With --role, a transformer as an engine behind HTTP, with the API of OpenAI, until a signal stops it. A prefill"
          + " answers where its blocks are (kv_transfer_params), as vLLM does for a NIXL pull, and a decode pulls them."
          + " All keep blocks in the node, if one is named, which must open spaces: penstock serve --spaces-open true.",
      ""},
    mixinStandardHelpOptions = true)
public final class EngineCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int PROMPT_TOKENS = 200;
  private static final int ANSWER_TOKENS = 32;
  private static final long SEED = 7;

  private final Console console;

  @Mixin
  private RecordOptions record = new RecordOptions();

  @ArgGroup(exclusive = false)
  private @Nullable ServedOptions served;

  public EngineCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (served != null) {
      served.serve(console);
      return ExitCode.OK;
    }
    ToyEngine engine = new ToyEngine(SEED);
    int[] prompt = new Random(SEED).ints(PROMPT_TOKENS, 0, 90).toArray();
    try (TierRecording recording = record.begin("")) {
      return Mono.usingWhen(PenstockNode.start(EngineCache.space(engine), 1_000),
          node -> Mono.usingWhen(EngineCache.connect(node.address(), engine),
              cache -> shared(engine, cache, prompt, recording), cache -> cache.client().close()),
          PenstockNode::close).blockOptional(PATIENCE).orElseThrow();
    }
  }

  private Mono<Integer> shared(ToyEngine engine, EngineCache cache, int[] prompt, @Nullable TierRecording recording) {
    ToyEngine.Session first = engine.session();
    int[] answer = first.answer(first.forward(prompt, 0), PROMPT_TOKENS, ANSWER_TOKENS);
    ToyEngine.Session second = engine.session();
    Mono<Long> offload =
        Mono.from(RecordOptions.<Long>flow(recording, "offload").apply(cache.offload(first, prompt)));
    Mono<Integer> load = Mono.from(RecordOptions.<Integer>flow(recording, "load").apply(cache.load(second, prompt)));
    return offload.then(load).map(loaded -> {
      int next = second.forward(Arrays.copyOfRange(prompt, loaded, PROMPT_TOKENS), loaded);
      int prefill = second.computed();
      boolean same = Arrays.equals(answer, second.answer(next, PROMPT_TOKENS, ANSWER_TOKENS));
      console.print("engine: prompt of %d tokens, loaded %d, computed %d, %d tokens of answer %s".formatted(
          PROMPT_TOKENS, loaded, prefill, ANSWER_TOKENS, same ? "equal" : "DIFFER"));
      return same && loaded > 0 ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    });
  }
}
