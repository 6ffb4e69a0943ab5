package io.penstock.lab.bench.session;

import io.penstock.block.session.SessionState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/// Makes the turns of agents with sessions, and of people without, from a seed.
///
/// An agent begins with one of a few system prompts and its task, some 20,000 tokens, and adds some 2,500 tokens a
/// turn, so that about 95 of 100 tokens of a prompt are repeated. Before one of ten turns it waits 30 to 600 s for a
/// tool or a person; its client says so. Blocks have 512 tokens.
final class SessionTrace {
  private static final int BLOCK_TOKENS = 512;
  private static final int MOST_TOKENS = 150_000;
  private static final int SYSTEM_PROMPTS = 12;

  private final SplittableRandom random;
  private final double pausePart;
  private final List<SessionTurn> turns = new ArrayList<>();
  private long nextBlock;

  private SessionTrace(long seed, double pausePart) {
    this.random = new SplittableRandom(seed);
    this.pausePart = pausePart;
  }

  /// @param agents number of agents, which arrive every 12 s on average
  /// @param people number of conversations without a session
  /// @param pausePart part of the turns of agents before which there is a long pause
  /// @return the turns in the order of their arrival
  static List<SessionTurn> of(long seed, int agents, int people, double pausePart) {
    SessionTrace trace = new SessionTrace(seed, pausePart);
    List<long[]> prompts = new ArrayList<>();
    for (int i = 0; i < SYSTEM_PROMPTS; i++) {
      prompts.add(trace.fresh(trace.logNormal(7_000, 0.6) / BLOCK_TOKENS));
    }
    long duration = 12_000L * agents;
    double millis = 0;
    for (int i = 0; i < agents; i++) {
      trace.agent(i, (long) millis, prompts.get(trace.popular(SYSTEM_PROMPTS)));
      millis += trace.exponential(12_000);
    }
    for (int i = 0; i < people; i++) {
      trace.person(trace.random.nextLong(duration), prompts.get(trace.popular(SYSTEM_PROMPTS)));
    }
    trace.turns.sort(Comparator.comparingLong(SessionTurn::millis)); // stable
    return trace.turns;
  }

  private void agent(int session, long start, long[] system) {
    int left = 1 + (int) exponential(24);
    long tokens = (long) system.length * BLOCK_TOKENS + logNormal(16_000, 0.5);
    long[] blocks = system;
    long millis = start;
    boolean isReturn = false;
    while (left > 0) {
      long[] prompt = grown(blocks, tokens);
      long answer = logNormal(500, 0.8);
      blocks = grown(prompt, tokens + answer);
      tokens += answer + logNormal(1_500, 0.8);
      left = tokens > MOST_TOKENS ? 0 : left - 1;
      boolean pauses = random.nextDouble() < pausePart;
      SessionState after = left == 0 ? SessionState.ENDED : pauses ? SessionState.PAUSED : null;
      turns.add(new SessionTurn(millis, session, prompt.length, blocks, isReturn, after));
      millis += pauses ? 30_000 + random.nextLong(570_000) : logNormal(4_000, 0.8);
      isReturn = pauses;
    }
  }

  private void person(long start, long[] system) {
    int left = 1 + (int) exponential(4);
    long tokens = (long) system.length * BLOCK_TOKENS + logNormal(5_500, 1);
    long[] blocks = system;
    long millis = start;
    for (; left > 0; left--) {
      long[] prompt = grown(blocks, tokens);
      long answer = logNormal(250, 0.8);
      blocks = grown(prompt, Math.min(MOST_TOKENS, tokens + answer));
      turns.add(new SessionTurn(millis, -1, prompt.length, blocks, false, null));
      tokens = Math.min(MOST_TOKENS, tokens + answer + logNormal(350, 1));
      millis += logNormal(25_000, 1);
    }
  }

  /// `blocks` and new ones behind them, for the full blocks of `tokens`.
  private long[] grown(long[] blocks, long tokens) {
    int count = Math.max(blocks.length, (int) (tokens / BLOCK_TOKENS));
    long[] grown = Arrays.copyOf(blocks, count);
    for (int i = blocks.length; i < count; i++) {
      grown[i] = nextBlock++;
    }
    return grown;
  }

  private long[] fresh(long count) {
    return grown(new long[0], count * BLOCK_TOKENS);
  }

  private double exponential(double mean) {
    return -mean * StrictMath.log(1 - random.nextDouble());
  }

  private long logNormal(double median, double sigma) {
    double normal = StrictMath.sqrt(-2 * StrictMath.log(1 - random.nextDouble()))
        * StrictMath.cos(2 * StrictMath.PI * random.nextDouble());
    return Math.max(1, (long) (median * StrictMath.exp(sigma * normal)));
  }

  /// One of `count`, the first the most often.
  private int popular(int count) {
    return (int) (count * StrictMath.pow(random.nextDouble(), 2));
  }
}
