package io.penstock.disagg.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.registry.InstanceView.State;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RankRegistryTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 8, 8, ElementType.BF16);

  private static final Registrant OWNER =
      new Registrant(RankOwner.ofSecret("a secret of its owner".getBytes(StandardCharsets.UTF_8)), "address", "one");

  private long nanos;
  private final List<Incarnation> gone = new ArrayList<>();
  private final RankRegistry registry = new RankRegistry(RegistryOptions.defaults(), () -> nanos, gone::add);

  private void pass(Duration time) {
    nanos += time.toNanos();
  }

  private static Manifest manifest(int tp) {
    return Manifest.of("m", LAYOUT, Parallelism.ofTp(tp));
  }

  private static Incarnation rank(String instance, int rank, long generation) {
    return new RankId(instance, rank).since(generation);
  }

  private static Registration prefill(int rank, long generation, int tp) {
    return new Registration(Side.PREFILL, rank("p", rank, generation), 1, manifest(tp),
        new Endpoint("host-" + rank / 2, 30_000 + rank));
  }

  @Test
  void distinctRanks_makeAnInstanceReady_howeverOftenTheyRegister() {
    for (int i = 0; i < 5; i++) {
      assertThat(registry.register(OWNER, prefill(0, 1, 2)).state()).isEqualTo(State.COMING);
    }
    assertThat(registry.register(OWNER, prefill(1, 1, 2)).isReady()).isTrue();
    assertThat(registry.instance("p").orElseThrow().ranks()).hasSize(2);
    assertThat(gone).isEmpty();
    assertThat(registry.instance("q")).isEmpty();
  }

  @Test
  void instancesOfOneManifest_shareIt() {
    registry.register(OWNER, prefill(0, 1, 2));
    registry.register(OWNER, new Registration(Side.PREFILL, rank("q", 0, 1), 1, manifest(2), new Endpoint("h", 1)));
    assertThat(registry.instance("q").orElseThrow().manifest())
        .isSameAs(registry.instance("p").orElseThrow().manifest());
  }

  @Test
  void whatDiffers_isRefused_andNamed() {
    registry.register(OWNER, prefill(0, 5, 2));
    assertRefused(new Registration(Side.DECODE, rank("p", 1, 1), 1, manifest(2), new Endpoint("h", 1)), "side");
    assertRefused(new Registration(Side.PREFILL, rank("p", 1, 1), 2, manifest(2), new Endpoint("h", 1)), "version");
    assertRefused(prefill(1, 1, 4), "tp");
    assertRefused(prefill(0, 4, 2), "generation");
    assertRefused(new Registration(Side.PREFILL, rank("p", 0, 5), 1, manifest(2), new Endpoint("h", 1)), "endpoint");
    assertRefused(new Registration(Side.DECODE, rank("d", 0, 1), 2, manifest(2), new Endpoint("h", 1)), "version");
    assertThat(registry.instances()).singleElement().extracting(view -> view.ranks().size()).isEqualTo(1);
  }

  private void assertRefused(Registration registration, String field) {
    assertThatThrownBy(() -> registry.register(OWNER, registration))
        .isInstanceOfSatisfying(RegistrationRefusedException.class,
            refused -> assertThat(refused.field()).isEqualTo(field));
  }

  @Test
  void sidesThatNoPlanJoins_areRefusedAtTheHandshake() {
    registry.register(OWNER, prefill(0, 1, 1));
    Manifest other = Manifest.of("m", BlockLayout.attention(4, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));
    assertThatThrownBy(() -> registry.register(OWNER,
        new Registration(Side.DECODE, rank("d", 0, 1), 1, other, new Endpoint("h", 1))))
        .isInstanceOf(PlanRefusedException.class);
    assertThat(
        registry.register(OWNER, new Registration(Side.DECODE, rank("d", 0, 1), 1, manifest(4), new Endpoint("h", 1)))
            .state())
        .isEqualTo(State.COMING);
  }

  @Test
  void aRank_isGoneAfterTwoMissedHeartbeats() {
    registry.register(OWNER, prefill(0, 1, 2));
    registry.register(OWNER, prefill(1, 1, 2));
    for (int i = 0; i < 4; i++) {
      pass(Duration.ofSeconds(5));
      assertThat(registry.heartbeat(OWNER.owner(), rank("p", 0, 1))).isTrue();
    }
    assertThat(gone).containsExactly(rank("p", 1, 1));
    assertThat(registry.instance("p")).get().extracting(InstanceView::state).isEqualTo(State.COMING);
    assertThat(registry.heartbeat(OWNER.owner(), rank("p", 1, 1))).isFalse();
    pass(Duration.ofSeconds(11));
    registry.expire();
    assertThat(gone).hasSize(2);
    assertThat(registry.instances()).isEmpty();
  }

  @Test
  void aRefusal_keepsNoRankThatExpiredFromBeingTold() {
    registry.register(OWNER, prefill(0, 1, 2));
    pass(Duration.ofSeconds(5));
    registry.register(OWNER, prefill(1, 1, 2));
    pass(Duration.ofSeconds(8));
    assertThatThrownBy(() -> registry.register(OWNER, prefill(0, 2, 4)))
        .isInstanceOf(RegistrationRefusedException.class);
    assertThat(gone).containsExactly(rank("p", 0, 1));
  }

  @Test
  void aRestart_replacesTheEarlierProcess() {
    registry.register(OWNER, prefill(0, 1, 1));
    assertThat(registry.register(OWNER, prefill(0, 2, 1)).isReady()).isTrue();
    assertThat(gone).containsExactly(rank("p", 0, 1));
    assertThat(registry.heartbeat(OWNER.owner(), rank("p", 0, 1))).isFalse();
    registry.leave(OWNER.owner(), rank("p", 0, 1));
    assertThat(registry.instance("p").orElseThrow().rank(0)).get().extracting(each -> each.who().generation())
        .isEqualTo(2L);
    registry.leave(OWNER.owner(), rank("p", 0, 2));
    assertThat(registry.instances()).isEmpty();
  }

  @Test
  void ranksThatDoNotCome_failTheBootstrap_untilTheyDo() {
    registry.register(OWNER, prefill(0, 1, 2));
    for (int i = 0; i < 61; i++) {
      pass(Duration.ofSeconds(5));
      registry.heartbeat(OWNER.owner(), rank("p", 0, 1));
    }
    assertThat(registry.instance("p")).get().extracting(InstanceView::state).isEqualTo(State.FAILED);
    assertThat(registry.register(OWNER, prefill(1, 1, 2)).isReady()).isTrue();
  }

  @Test
  void aRankOfAReplica_isOnItsOwnHost() {
    Manifest manifest = Manifest.of("m", LAYOUT, new Parallelism(2, 1, 2, 1, 1));
    for (int rank = 0; rank < 4; rank++) {
      registry.register(OWNER, new Registration(Side.PREFILL, rank("p", rank, 1), 1, manifest,
          new Endpoint("host-" + rank / 2, 30_000 + rank % 2)));
    }
    InstanceView view = registry.instance("p").orElseThrow();
    assertThat(view.rank(3).orElseThrow().endpoint()).isEqualTo(new Endpoint("host-1", 30_001));
    assertThat(view.rank(1).orElseThrow().endpoint()).hasToString("host-0:30001");
    assertThat(new Endpoint("::1", 1)).hasToString("[::1]:1");
    assertThat(prefill(1, 1, 2).place()).isEqualTo(new Rank(0, 0, 1));
  }

  @Test
  void theReplicaOfARequest_isKnownForAWhile() {
    registry.assign(OWNER.address(), "r", 3);
    registry.assign(OWNER.address(), "r", 3);
    assertThatThrownBy(() -> registry.assign(OWNER.address(), "r", 2)).hasMessage("replica must be 3 (was 2)");
    pass(Duration.ofSeconds(119));
    assertThat(registry.replica("r")).hasValue(3);
    pass(Duration.ofSeconds(2));
    assertThat(registry.replica("r")).isEmpty();
  }

  @Test
  void anyOrderOfCalls_leavesDistinctRanks() {
    for (long seed = 1; seed <= 30; seed++) {
      Random random = new Random(seed);
      long[] now = new long[1];
      Map<Incarnation, Integer> left = new HashMap<>();
      RankRegistry many = new RankRegistry(RegistryOptions.defaults(), () -> now[0],
          who -> left.merge(who, 1, Integer::sum));
      Map<Integer, Long> generations = new HashMap<>();
      for (int i = 0; i < 300; i++) {
        int rank = random.nextInt(4);
        long generation = generations.getOrDefault(rank, 1L);
        switch (random.nextInt(5)) {
          case 0, 1 -> many.register(OWNER, prefill(rank, generation, 4));
          case 2 -> many.heartbeat(OWNER.owner(), rank("p", rank, generation));
          case 3 -> generations.put(rank, many.claim(OWNER, new RankId("p", rank), 1));
          default -> now[0] += random.nextInt(4) * 1_000_000_000L;
        }
        many.instance("p").ifPresent(view -> {
          assertThat(view.ranks()).extracting(each -> each.who().rank()).doesNotHaveDuplicates();
          assertThat(view.isReady()).isEqualTo(view.ranks().size() == 4);
        });
      }
      now[0] += Duration.ofMinutes(1).toNanos();
      assertThat(many.instances()).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void aTakeOver_isToldWithBothGenerationsAndEndpoints() {
    List<String> told = new ArrayList<>();
    RankRegistry watched = new RankRegistry(RegistryOptions.defaults(), () -> nanos, new RankRegistry.Listener() {
      @Override
      public void gone(Incarnation who) {
        told.add("gone " + who);
      }

      @Override
      public void replaced(InstanceView.Registered before, InstanceView.Registered now) {
        told.add(before + " by " + now.who() + " at " + now.endpoint());
      }
    });
    watched.register(OWNER, prefill(0, 1, 1));
    Registration later = new Registration(Side.PREFILL, rank("p", 0, 2), 1, manifest(1), new Endpoint("other", 9));
    watched.register(OWNER, later);
    assertThat(told).singleElement().asString().contains("p/0@1", "host-0:30000", "p/0@2 at other:9");
    watched.register(OWNER, later);
    assertThat(told).hasSize(1);
  }

  @Test
  void theFieldInWhichAManifestDiffers_isNamed_withItsValuesAlone() {
    registry.register(OWNER, prefill(0, 5, 2));
    Manifest tokens = Manifest.of("m", BlockLayout.attention(4, 32, 8, 8, ElementType.BF16), Parallelism.ofTp(2));
    Manifest type = Manifest.of("m", BlockLayout.attention(4, 16, 8, 8, ElementType.FP32), Parallelism.ofTp(2));
    Manifest other = Manifest.of("other", LAYOUT, Parallelism.ofTp(2));
    assertThatThrownBy(() -> registry.register(OWNER, like(tokens))).hasMessage("groups[0].tokens must be 16 (was 32)");
    assertThatThrownBy(() -> registry.register(OWNER, like(type)))
        .hasMessage("groups[0].planes[0].type must be BF16 (was FP32)");
    assertThatThrownBy(() -> registry.register(OWNER, like(other))).hasMessage("model must be m (was other)");
    assertThatThrownBy(() -> registry.register(OWNER, prefill(1, 1, 4))).hasMessage("tp must be 2 (was 4)");
    assertThat(manifest(2).difference(manifest(2))).isEmpty();
  }

  private static Registration like(Manifest manifest) {
    return new Registration(Side.PREFILL, rank("p", 1, 1), 1, manifest, new Endpoint("h", 1));
  }
}
