package io.penstock.examples.jlama;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.flow.LoadPrefix;
import io.penstock.wire.PenstockClient;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Conversations of random tokens, turn after turn. Each turn is computed twice: by a session that computes all of its
/// prompt, and by a session that loads what the node has. Both must answer the same.
final class TurnsRun {
  private static final int LOADS = 9;
  /// The tokens before it begin and end texts.
  private static final int FIRST_WORD = 3;

  /// What is said.
  ///
  /// @param conversations number of conversations
  /// @param turns of each
  /// @param firstTokens of the first question
  /// @param turnTokens of each later question
  /// @param answerTokens of each answer
  /// @param spreadPercent by which the length of a question may be shorter or longer
  /// @param warmUp conversations that come before and are not counted. The last bits of a sum depend on what the JVM
  ///     has compiled so far
  /// @param seed of the questions
  record Settings(int conversations, int turns, int firstTokens, int turnTokens, int answerTokens, int spreadPercent,
      int warmUp, long seed) {
    Settings {
      Checks.positive("conversations", conversations);
      Checks.positive("turns", turns);
      Checks.positive("firstTokens", firstTokens);
      Checks.positive("turnTokens", turnTokens);
      Checks.positive("answerTokens", answerTokens);
      if (spreadPercent < 0 || spreadPercent >= 100) {
        throw new IllegalArgumentException("spreadPercent must be from 0 to 99 (was " + spreadPercent + ")");
      }
      Checks.notNegative("warmUp", warmUp);
    }

    /// Most tokens of a conversation.
    int tokens() {
      return longest(firstTokens) + (turns - 1) * longest(turnTokens) + turns * answerTokens;
    }

    private int longest(int mean) {
      return mean + mean * spreadPercent / 100;
    }

    private int length(int mean, SplittableRandom random) {
      int least = mean - mean * spreadPercent / 100;
      return random.nextInt(Math.max(1, least), longest(mean) + 1);
    }
  }

  private final JlamaEngine engine;
  private final JlamaCache cache;
  private final PenstockClient client;
  private final Settings settings;
  private final SplittableRandom random;
  private final List<Turn> done = new ArrayList<>();
  private int[] longest = {};

  TurnsRun(JlamaEngine engine, JlamaCache cache, PenstockClient client, Settings settings) {
    this.engine = engine;
    this.cache = cache;
    this.client = client;
    this.settings = settings;
    this.random = new SplittableRandom(settings.seed());
  }

  /// @param progress receives the number of conversations that have ended
  TurnsReport run(IntConsumer progress) {
    for (int i = 0; i < settings.warmUp(); i++) {
      conversation();
    }
    done.clear();
    for (int i = 1; i <= settings.conversations(); i++) {
      conversation();
      progress.accept(i);
    }
    List<TurnFigures> turns = IntStream.rangeClosed(1, settings.turns()).mapToObj(this::figures).toList();
    return new TurnsReport(engine.name(), settings, turns, engine.space().layout().blockBytes(), loadRate(),
        wireRate());
  }

  private void conversation() {
    int[] history = {};
    int answered = 0;
    for (int turn = 1; turn <= settings.turns(); turn++) {
      int[] prompt = joined(history, question(turn == 1 ? settings.firstTokens() : settings.turnTokens()));
      try (JlamaSession plain = engine.session(settings.tokens());
          JlamaSession cached = engine.session(settings.tokens())) {
        long began = System.nanoTime();
        int next = plain.forward(prompt, 0, JlamaSession.Steps.NONE);
        double plainSeconds = seconds(began);
        float[] logits = plain.logits();
        int[] answer = answer(plain, next);

        began = System.nanoTime();
        JlamaCache.Prefilled prefilled = cache.prefill(cached, prompt);
        double seconds = seconds(began);
        int computed = cached.computed();
        boolean likeLogits = Arrays.equals(logits, cached.logits());
        int[] cachedAnswer = answer(cached, prefilled.next());
        history = joined(prompt, cachedAnswer);
        prefilled.stored().join();
        cache.offload(cached, Arrays.copyOf(history, cached.tokens())).join();
        done.add(new Turn(turn, prompt.length, prompt.length - answered, prefilled.loaded(), computed, plainSeconds,
            seconds, Arrays.equals(answer, cachedAnswer), likeLogits));
        answered = cached.tokens();
      }
    }
    longest = history;
  }

  private int[] question(int mean) {
    return random.ints(settings.length(mean, random), FIRST_WORD, engine.words()).toArray();
  }

  /// The answer from its first token on; the last token is not computed.
  private int[] answer(JlamaSession session, int first) {
    int[] answer = new int[settings.answerTokens()];
    answer[0] = first;
    for (int i = 1; i < answer.length; i++) {
      answer[i] = session.forward(answer[i - 1]);
    }
    return answer;
  }

  private TurnFigures figures(int number) {
    List<Turn> turns = done.stream().filter(turn -> turn.number == number).toList();
    return new TurnFigures(number, turns.stream().mapToLong(turn -> turn.promptTokens).sum(),
        turns.stream().mapToLong(turn -> turn.newTokens).sum(),
        turns.stream().mapToLong(turn -> turn.promptTokens).sum(),
        turns.stream().mapToLong(turn -> turn.loaded).sum(), turns.stream().mapToLong(turn -> turn.computed).sum(),
        median(turns.stream().mapToDouble(turn -> turn.plainSeconds).sorted().toArray()),
        median(turns.stream().mapToDouble(turn -> turn.seconds).sorted().toArray()),
        (int) turns.stream().filter(turn -> !turn.likeAnswer).count(),
        (int) turns.stream().filter(turn -> !turn.likeLogits).count());
  }

  /// Bytes a second of loads of the longest prompt into the rows of a session.
  private double loadRate() {
    try (JlamaSession session = engine.session(settings.tokens())) {
      return rate(client.load(longest, session::row));
    }
  }

  /// Bytes a second of the same loads, whose slices are verified and dropped.
  private double wireRate() {
    List<BlockKey> keys = engine.space().keys(longest);
    return rate(Flux.using(BlockScope::new,
        scope -> LoadPrefix.layers(client.tier(), keys, SliceShape.defaults(), scope).doOnNext(slice -> {
          slice.spans().forEach(span -> span.verify("reader"));
          slice.close();
        }), BlockScope::close).then());
  }

  private double rate(Mono<?> load) {
    long bytes = (long) longest.length / JlamaEngine.BLOCK_TOKENS * engine.space().layout().blockBytes();
    double[] rates = new double[LOADS];
    for (int i = 0; i < LOADS; i++) {
      long began = System.nanoTime();
      load.block(); // the thread of the command, which measures one load after another
      rates[i] = bytes / seconds(began);
    }
    Arrays.sort(rates);
    return median(rates);
  }

  private static double median(double[] sorted) {
    return sorted[sorted.length / 2];
  }

  private static double seconds(long began) {
    return (System.nanoTime() - began) / 1e9;
  }

  private static int[] joined(int[] first, int[] second) {
    int[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  /// One turn of one conversation.
  private record Turn(int number, int promptTokens, int newTokens, int loaded, int computed, double plainSeconds,
      double seconds, boolean likeAnswer, boolean likeLogits) {}
}
