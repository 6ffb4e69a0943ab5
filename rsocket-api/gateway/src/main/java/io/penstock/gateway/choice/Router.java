package io.penstock.gateway.choice;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Chooses instances for requests. A choice is charged to its instances at once, so requests that come together do not
/// all go to the one that was idle, and is given back in three steps, see [Choice].
///
/// - Threads: any. A choice takes one lock for the time of a lookup.
public final class Router {
  private static final double SCORE_OF_HELD = 0.3;
  /// What a token that waits counts, beside one that the prompt lacks. A prompt that is sent away from its blocks costs
  /// other prompts, too, for the copy pushes blocks out. On the conversation trace, 8 instances of 4,000 blocks: at 1
  /// 0.87 of the oracle's hits, at 0.3 0.96, with equal or better times to the first token; at 0.1 the 99th percentile
  /// grows.
  private static final double WEIGHT_OF_WAITING = 0.3;
  /// What a token counts whose KV cache is held where the answer is generated. It spreads sessions of agents, which
  /// wait little: 8 instances then have at most twice the mean of the requests in place of six times.
  private static final double WEIGHT_OF_HELD = 0.02;

  private final Policy policy;
  private final Options options;
  private final LongSupplier nanos;
  private final RandomGenerator random;
  private final BlockIndex index = new BlockIndex();
  @GuardedBy("this") private final Map<Integer, Candidate> candidates = new LinkedHashMap<>();
  @GuardedBy("this") private final Map<Integer, ExpectedBlocks> expected = new LinkedHashMap<>();
  @GuardedBy("this") private final SessionPlaces sessions;
  @GuardedBy("this") private long turn;

  /// @param expectedBlocks of prompts on their way, for each instance; of one that tells nothing, the blocks of its
  ///   cache
  /// @param expectedNanos how long an instance may take to tell what it stored
  /// @param sessions whose places are remembered
  public record Options(int expectedBlocks, long expectedNanos, int sessions) {
    public Options {
      Checks.positive("expectedBlocks", expectedBlocks);
      Checks.positive("expectedNanos", expectedNanos);
      Checks.positive("sessions", sessions);
    }

    public static Options defaults() {
      return new Options(16_384, 10_000_000_000L, 65_536);
    }
  }

  /// What is charged to an instance.
  ///
  /// @param waitingTokens of prompts that it has to compute, as estimated
  /// @param heldScore of requests whose KV cache is held for a decode, as the proxy of `vllm-ascend` scores them
  /// @param decodeBytes of requests that are generated there
  /// @param heldTokens of requests that are generated there
  /// @param requests that are generated there
  public record Load(double waitingTokens, double heldScore, double decodeBytes, long heldTokens, int requests) {
    static final Load NONE = new Load(0, 0, 0, 0, 0);
  }

  /// @param nanos clock of what is expected
  /// @param random of [Policy#RANDOM]
  public Router(Policy policy, Options options, LongSupplier nanos, RandomGenerator random) {
    this.policy = policy;
    this.options = options;
    this.nanos = nanos;
    this.random = random;
    this.sessions = new SessionPlaces(options.sessions());
  }

  /// What each instance has. Its events keep this index.
  public BlockIndex index() {
    return index;
  }

  /// Adds an instance.
  ///
  /// @param tells whether its events reach the index
  /// @return its number in the index
  /// @throws IllegalStateException if there are [BlockIndex#MOST_INSTANCES] already
  public synchronized int add(String name, boolean tells) {
    for (int number = 0; number < BlockIndex.MOST_INSTANCES; number++) {
      if (!candidates.containsKey(number)) {
        candidates.put(number, new Candidate(number, name, tells));
        expected.put(number, new ExpectedBlocks(index, number, options.expectedBlocks(),
            tells ? options.expectedNanos() : Long.MAX_VALUE));
        return number;
      }
    }
    throw new IllegalStateException("instances must be at most %d (was one more: %s)"
        .formatted(BlockIndex.MOST_INSTANCES, name));
  }

  /// Forgets an instance and its blocks. Requests that are there keep their choice.
  public synchronized void remove(int instance) {
    candidates.remove(instance);
    expected.remove(instance);
    sessions.forget(instance);
    index.clear(instance);
  }

  /// Chooses.
  ///
  /// @param prefills that may compute the prompt, a bit each
  /// @param decodes that may generate, a bit each; 0 if the instance that computes also generates
  /// @return null if there is none
  public synchronized @Nullable Choice choose(Prompt prompt, long prefills, long decodes) {
    expected.values().forEach(each -> each.drop(nanos.getAsLong()));
    BlockIndex.Overlap overlap = index.overlap(prompt.names(), -1L);
    SessionPlaces.Place last = sessions.of(prompt.session());
    Candidate prefill = pick(prefills, candidate -> prefillCost(candidate, prompt, overlap, last));
    boolean isSplit = decodes != 0;
    Candidate decode = isSplit ? pick(decodes, candidate -> decodeCost(candidate, last)) : prefill;
    turn++;
    if (prefill == null || decode == null) {
      return null;
    }
    Candidate richest = null;
    for (Candidate each : candidates.values()) {
      if (overlap.blocks(each.number) > (richest == null ? 0 : overlap.blocks(richest.number))) {
        richest = each;
      }
    }
    double lacking = lacking(prefill, prompt, overlap, last);
    ExpectedBlocks promised = expected.get(prefill.number);
    if (promised != null) {
      promised.add(prompt.names(), nanos.getAsLong());
    }
    sessions.put(prompt.session(), new SessionPlaces.Place(prefill.number, decode.number, prompt.tokens()));
    return new Choice(this, prompt, prefill, decode, lacking, overlap.blocks(prefill.number),
        richest == null ? null : new Choice.Source(richest.number, richest.name, overlap.blocks(richest.number)));
  }

  /// What is charged to an instance; nothing for one that is not known.
  public synchronized Load load(int instance) {
    Candidate candidate = candidates.get(instance);
    return candidate == null
        ? Load.NONE
        : new Load(candidate.waitingTokens, candidate.heldScore, candidate.decodeBytes,
            candidate.heldTokens, candidate.requests);
  }

  private interface Cost {
    double of(Candidate candidate);
  }

  @GuardedBy("this") private @Nullable Candidate pick(long among, Cost cost) {
    return switch (policy) {
      case RANDOM -> nth(among, Long.bitCount(among) == 0 ? 0 : random.nextInt(Long.bitCount(among)));
      case ROUND_ROBIN -> nth(among, Long.bitCount(among) == 0 ? 0 : (int) (turn % Long.bitCount(among)));
      case LOAD, PREFIX -> least(among, cost);
    };
  }

  @GuardedBy("this") private @Nullable Candidate nth(long among, int place) {
    long rest = among;
    for (int i = 0; i < place; i++) {
      rest &= rest - 1;
    }
    return rest == 0 ? null : candidates.get(Long.numberOfTrailingZeros(rest));
  }

  /// Of equals the first that was added, as `vllm-ascend`'s proxy does.
  @GuardedBy("this") private @Nullable Candidate least(long among, Cost cost) {
    Candidate best = null;
    double lowest = Double.POSITIVE_INFINITY;
    for (Candidate candidate : candidates.values()) {
      if ((among & BlockIndex.bit(candidate.number)) != 0) {
        double at = cost.of(candidate);
        if (at < lowest) {
          lowest = at;
          best = candidate;
        }
      }
    }
    return best;
  }

  private double prefillCost(Candidate candidate, Prompt prompt, BlockIndex.Overlap overlap,
      SessionPlaces.@Nullable Place last) {
    return policy == Policy.LOAD
        ? SCORE_OF_HELD * candidate.heldScore
        : WEIGHT_OF_WAITING * candidate.waitingTokens + WEIGHT_OF_HELD * candidate.heldTokens
            + lacking(candidate, prompt, overlap, last);
  }

  private double decodeCost(Candidate candidate, SessionPlaces.@Nullable Place last) {
    if (policy == Policy.LOAD) {
      return candidate.decodeBytes;
    }
    return candidate.heldTokens - (last != null && last.decode() == candidate.number ? last.tokens() : 0);
  }

  /// Tokens of the prompt that `candidate` has to compute. Without tokens to look up, an instance is taken to have what
  /// the session had there last.
  private double lacking(Candidate candidate, Prompt prompt, BlockIndex.Overlap overlap,
      SessionPlaces.@Nullable Place last) {
    double known = overlap.credit(candidate.number) * prompt.blockTokens();
    if (prompt.names().length == 0 && last != null && last.prefill() == candidate.number) {
      known = Medium.EXPECTED.credit() * last.tokens();
    }
    return Math.max(1, prompt.tokens() - known);
  }

  synchronized void charge(Choice choice, int sign) {
    choice.prefillCandidate().waitingTokens += sign * choice.lackingTokens();
  }

  synchronized void hold(Choice choice, int sign) {
    choice.prefillCandidate().heldScore += sign * choice.score();
  }

  synchronized void decode(Choice choice, int sign) {
    Candidate decode = choice.decodeCandidate();
    decode.decodeBytes += sign * choice.prompt().bytes();
    decode.heldTokens += sign * choice.prompt().tokens();
    decode.requests += sign;
  }
}
