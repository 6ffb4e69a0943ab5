package io.penstock.disagg.registry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.tier.TierHolds.HoldLimitException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Ranks belong to their owners, generations move in steps, and strangers leave room for others.
final class RankOwnerTest {
  private static final Manifest MANIFEST =
      Manifest.of("m", BlockLayout.attention(4, 16, 8, 8, ElementType.BF16), Parallelism.ofTp(4));
  private static final RankId RANK = new RankId("p", 0);
  private static final Registrant OWNER = at("owner", "10.0.0.1");
  private static final Registrant STRANGER = at("stranger", "10.6.6.6");
  private static final long HOUR = Duration.ofHours(1).toMillis();
  private static final long CLOCK = 1_790_000_000_000L;

  private long nanos;
  private final List<Incarnation> gone = new ArrayList<>();
  private RankRegistry registry = new RankRegistry(RegistryOptions.defaults(), () -> nanos, gone::add);

  private static Registrant at(String secret, String address) {
    return new Registrant(RankOwner.ofSecret((secret + ", 16 bytes or more").getBytes(UTF_8)), address,
        address + ":" + secret);
  }

  private static Registration of(RankId rank, long generation) {
    return new Registration(Side.PREFILL, rank.since(generation), 1, MANIFEST, new Endpoint("host", 7733));
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
  }

  private void startAt(long clock) {
    long given = registry.claim(OWNER, RANK, clock);
    registry.register(OWNER, of(RANK, given));
  }

  private long generation() {
    return registry.instance("p").orElseThrow().rank(0).orElseThrow().who().generation();
  }

  @Test
  void aStranger_neitherTakesARankNorEndsIt() {
    startAt(CLOCK);
    for (long generation : new long[] {0, CLOCK, CLOCK + 1, RankRegistry.MOST_NAMED, 1L << 62, Long.MAX_VALUE}) {
      assertTaken(() -> registry.register(STRANGER, of(RANK, generation)));
      assertTaken(() -> registry.claim(STRANGER, RANK, generation));
      assertTaken(() -> registry.leave(STRANGER.owner(), RANK.since(generation)));
    }
    pass(Duration.ofSeconds(9));
    assertThat(registry.heartbeat(STRANGER.owner(), RANK.since(CLOCK))).isFalse();
    pass(Duration.ofSeconds(2));
    registry.expire();
    assertThat(gone).as("a stranger's heartbeat is no sign of life").containsExactly(RANK.since(CLOCK));
  }

  private static void assertTaken(Runnable work) {
    assertThatThrownBy(work::run).isInstanceOf(RankTakenException.class)
        .hasMessage("rank p/0 must be registered by its owner, who was heard within 10000 ms (was by another)");
  }

  @Test
  void anOwner_isNeverLockedOut_whateverAStrangerNamedWhileTheRankWasFree() {
    startAt(CLOCK);
    registry.leave(OWNER.owner(), RANK.since(CLOCK));
    assertThatThrownBy(() -> registry.register(STRANGER, of(RANK, 1L << 62)))
        .hasMessage("generation must be <= 9002904289771520 (was 4611686018427387904)".replace("9002904289771520",
            "" + RankRegistry.MOST_NAMED));
    assertThat(registry.claim(STRANGER, RANK, 1L << 62)).isEqualTo(RankRegistry.MOST_NAMED);
    registry.register(STRANGER, of(RANK, RankRegistry.MOST_NAMED));
    assertTaken(() -> startAt(CLOCK));
    pass(Duration.ofSeconds(11));
    startAt(CLOCK);
    assertThat(generation()).isEqualTo(RankRegistry.MOST_NAMED + 1);
    pass(Duration.ofSeconds(11)); // a pause of the network: the rank registers again as it is
    registry.register(OWNER, of(RANK, RankRegistry.MOST_NAMED + 1));
    startAt(CLOCK);
    assertThat(generation()).isEqualTo(RankRegistry.MOST_NAMED + 2);
  }

  @Test
  void aClockThatIsSetBack_andAHostWithALowerOne_takeTheNextStep() {
    startAt(CLOCK);
    startAt(CLOCK - HOUR);
    assertThat(generation()).isEqualTo(CLOCK + 1);
    registry.leave(OWNER.owner(), RANK.since(CLOCK + 1));
    startAt(CLOCK - 2 * HOUR);
    assertThat(generation()).as("it left before").isEqualTo(CLOCK + 2);
    pass(Duration.ofSeconds(11));
    startAt(0);
    assertThat(generation()).as("it fell silent before").isEqualTo(CLOCK + 3);
    startAt(CLOCK + HOUR);
    assertThat(generation()).as("it was registered elsewhere in a higher one").isEqualTo(CLOCK + HOUR);
  }

  @Test
  void aRegistryThatForgot_takesARankAsItIs() {
    startAt(CLOCK);
    registry = new RankRegistry(RegistryOptions.defaults(), () -> nanos, gone::add);
    registry.register(OWNER, of(RANK, CLOCK));
    assertThat(generation()).isEqualTo(CLOCK);
    assertTaken(() -> registry.register(STRANGER, of(RANK, CLOCK + 1)));
  }

  @Test
  void generationsMoveInSteps_andAnEarlierStartDoesNotComeBack() {
    startAt(7);
    assertThatThrownBy(() -> registry.register(OWNER, of(RANK, 9)))
        .hasMessage("generation must be <= 8, the next one (was 9)");
    assertThat(registry.claim(OWNER, RANK, 0)).isEqualTo(8);
    assertThat(registry.heartbeat(OWNER.owner(), RANK.since(7))).as("the next one is not there yet").isTrue();
    assertThat(registry.claim(OWNER, RANK, 0)).as("a third start").isEqualTo(9);
    assertThatThrownBy(() -> registry.register(OWNER, of(RANK, 8))).hasMessage("generation must be >= 9 (was 8)");
    registry.register(OWNER, of(RANK, 9));
    assertThat(gone).containsExactly(RANK.since(7));
    assertThat(registry.heartbeat(OWNER.owner(), RANK.since(7))).isFalse();
    assertThatThrownBy(() -> registry.register(OWNER, of(RANK, 7))).hasMessage("generation must be >= 9 (was 7)");
  }

  @Test
  void aClaimThatIsNotUsed_isFreeAgain_andNoRankIsReportedGone() {
    assertThat(registry.claim(STRANGER, RANK, 5)).isEqualTo(5);
    assertThat(registry.instances()).isEmpty();
    assertTaken(() -> registry.claim(OWNER, RANK, 0));
    pass(Duration.ofSeconds(11));
    assertThat(registry.claim(OWNER, RANK, 0)).isEqualTo(6);
    assertThat(gone).isEmpty();
  }

  @Test
  void ranksOfOneInstance_belongToOneUser() {
    Registrant user = new Registrant(RankOwner.ofUser("engine"), "10.0.0.1", 1);
    Registrant other = new Registrant(RankOwner.ofUser("other"), "10.0.0.2", 2);
    registry.register(user, of(RANK, 1));
    assertThatThrownBy(() -> registry.register(other, of(new RankId("p", 1), 1)))
        .hasMessage("user must be that of the other ranks of instance p (was another one)");
    registry.register(user, of(new RankId("p", 1), 1));
    assertThat(RankOwner.ofUser("engine")).isEqualTo(user.owner()).isNotEqualTo(RankOwner.ofSecret(new byte[16]))
        .hasToString("a user");
    assertThatThrownBy(() -> RankOwner.ofSecret(new byte[15])).hasMessage("secret must be 16 to 64 bytes (was 15)");
  }

  @Test
  void aFlood_endsAtTheSharesOfItsSource_andLeavesRoom() {
    int accepted = 0;
    for (int i = 0; i < 30_000; i++) {
      try {
        registry.register(STRANGER, of(new RankId("flood-" + i, 0), 1));
        accepted++;
      } catch (HoldLimitException e) {
        assertThat(e).hasMessage("ranks of one connection must be <= 512 (was 513)");
      }
    }
    assertThat(accepted).isEqualTo(512);
    Registrant again = new Registrant(STRANGER.owner(), STRANGER.address(), "another connection");
    for (int i = 0; i < 512; i++) {
      registry.register(again, of(new RankId("again-" + i, 0), 1));
    }
    assertThatThrownBy(() -> registry.claim(at("third", "10.6.6.6"), RANK, 0)).isInstanceOf(HoldLimitException.class)
        .hasMessage("ranks of one address must be <= 1024 (was 1025)");
    startAt(CLOCK);
    pass(Duration.ofSeconds(11));
    assertThat(registry.instances()).isEmpty();
    registry.register(STRANGER, of(new RankId("flood-0", 0), 1));
  }

  @Test
  void allSourcesTogether_areBounded_andSoAreManifestsAndRequests() {
    RegistryBounds bounds = new RegistryBounds(3, 2, 2, 2, 12, 3, 2);
    registry = new RankRegistry(RegistryOptions.defaults().withBounds(bounds), () -> nanos, gone::add);
    registry.register(OWNER, of(RANK, 1));
    registry.register(OWNER, of(new RankId("q", 0), 1));
    assertThatThrownBy(() -> registry.register(STRANGER, of(new RankId("r", 0), 1)))
        .hasMessage("instances must be <= 2 (was 3)");
    registry.register(STRANGER, of(new RankId("p", 1), 1));
    assertThatThrownBy(() -> registry.register(STRANGER, of(new RankId("p", 2), 1)))
        .hasMessage("ranks must be <= 3 (was 4)");
    pass(Duration.ofSeconds(11));
    Manifest large = Manifest.of("m", BlockLayout.attention(40, 16, 8, 8, ElementType.BF16), Parallelism.ofTp(1));
    assertThatThrownBy(() -> registry.register(STRANGER,
        new Registration(Side.PREFILL, RANK.since(2), 1, large, new Endpoint("h", 1))))
        .hasMessage("layers, planes and stages of a manifest must be <= 12 (was 43)");
    registry.assign("one", "a", 0);
    registry.assign("one", "b", 0);
    assertThatThrownBy(() -> registry.assign("one", "c", 0)).hasMessage(
        "requests of one address must be <= 2 (was 3)");
    registry.assign("two", "c", 0);
    assertThatThrownBy(() -> registry.assign("two", "d", 0)).hasMessage("requests must be <= 3 (was 4)");
    pass(Duration.ofSeconds(121));
    registry.assign("one", "c", 1);
  }

  @Test
  void names_arePrintable() {
    for (String odd : List.of("\u001b[2J", "a\nb", "\u202eb", "\u009b", "\u2028", "\u0000")) {
      assertThatThrownBy(() -> new RankId("p" + odd, 0)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("instance must have printable characters (had U+");
      assertThatThrownBy(() -> new Endpoint("h" + odd, 1)).hasMessageContaining("host must have printable characters");
    }
    assertThat(new RankId("Präfill 预填充 🚀", 0).instance()).startsWith("Präfill");
  }

  @Test
  void noSequenceOfAStranger_changesARankWhoseOwnerLives() {
    for (long seed = 1; seed <= 30; seed++) {
      Random random = new Random(seed);
      long[] now = new long[1];
      RankRegistry one = new RankRegistry(RegistryOptions.defaults(), () -> now[0], who -> {});
      long given = one.claim(OWNER, RANK, CLOCK);
      var registered = one.register(OWNER, of(RANK, given));
      for (int i = 0; i < 200; i++) {
        long named = random.nextBoolean() ? given + random.nextInt(3) : random.nextLong() >>> 1;
        int kind = random.nextInt(4);
        try {
          switch (kind) {
            case 0 -> one.register(STRANGER, of(RANK, named));
            case 1 -> one.claim(STRANGER, RANK, named);
            case 2 -> one.leave(STRANGER.owner(), RANK.since(named));
            default -> one.heartbeat(STRANGER.owner(), RANK.since(named));
          }
          assertThat(kind).as("what is answered").isEqualTo(3);
        } catch (RankTakenException e) {
          assertThat(e.rank()).isEqualTo("p/0");
        }
        now[0] += random.nextInt(2_000) * 1_000_000L;
        assertThat(one.heartbeat(OWNER.owner(), RANK.since(given))).as("seed %d", seed).isTrue();
        assertThat(one.instance("p")).contains(registered);
      }
    }
  }
}
