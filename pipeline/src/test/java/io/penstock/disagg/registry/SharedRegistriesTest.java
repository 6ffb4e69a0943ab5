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
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.RankFact.State;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Two registries that tell each other at once, as long as they can.
final class SharedRegistriesTest {
  private static final RankId RANK = new RankId("p", 0);
  private static final Registrant OWNER = registrant("the secret of the owner");
  private static final Registrant STRANGER = registrant("the secret of a stranger");
  private static final Duration SILENCE = RegistryOptions.defaults().silence();

  private long nanos;
  private boolean isSplit;
  private final One a = new One();
  private final One b = new One();

  private final class One implements RegistryShare, RankRegistry.Listener {
    final RankRegistry registry =
        new RankRegistry(RegistryOptions.defaults(), () -> nanos, this, this, new Random(hashCode()));
    final List<Incarnation> gone = new ArrayList<>();
    boolean isReady = true;

    private One other() {
      return this == a ? b : a;
    }

    void tellAll() {
      registry.facts().forEach(other().registry::take);
      heard();
    }

    @Override
    public void gone(Incarnation who) {
      gone.add(who);
    }

    @Override
    public boolean isReady() {
      return isReady;
    }

    @Override
    public void changed(RankFact fact) {
      if (!isSplit) {
        other().registry.take(fact);
      }
    }

    @Override
    public void heard() {
      if (!isSplit) {
        other().registry.heard(registry.heardHere(SILENCE));
      }
    }

    @Override
    public void dropped(RankFact fact) {}

    @Override
    public void assigned(String request, int replica) {
      if (!isSplit) {
        other().registry.take(request, replica);
      }
    }

    List<Incarnation> shown() {
      return registry.instances().stream().flatMap(view -> view.ranks().stream()).map(Registered::who).toList();
    }
  }

  private static Registrant registrant(String secret) {
    return new Registrant(RankOwner.ofSecret(secret.getBytes(UTF_8)), "address", secret);
  }

  private static Registration of(Incarnation who, int layers) {
    return new Registration(Side.PREFILL, who, 1,
        Manifest.of("m", BlockLayout.attention(layers, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(2)),
        new Endpoint("h", 1));
  }

  private Incarnation registered(One at, Registrant by, RankId rank, int layers) {
    Incarnation who = rank.since(at.registry.claim(by, rank, 0));
    at.registry.register(by, of(who, layers));
    return who;
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
    a.registry.expire();
    b.registry.expire();
  }

  @Test
  void aRank_isKnownAtBoth_beatsAtEither_andLeavesAtEither() {
    Incarnation who = registered(a, OWNER, RANK, 2);
    assertThat(b.shown()).containsExactly(who);
    for (int i = 0; i < 5; i++) {
      pass(SILENCE.minusMillis(1));
      assertThat((i % 2 == 0 ? b : a).registry.heartbeat(OWNER.owner(), who)).isTrue();
    }
    assertThat(a.shown()).containsExactly(who);
    assertThat(b.registry.leave(OWNER.owner(), who)).isTrue();
    assertThat(a.shown()).isEmpty();
    assertThat(a.gone).containsExactly(who);
  }

  @Test
  void aRankThatIsSilent_goesAtBoth() {
    registered(a, OWNER, RANK, 2);
    pass(SILENCE.plusMillis(1));
    assertThat(a.shown()).isEmpty();
    assertThat(b.shown()).isEmpty();
  }

  @Test
  void anotherOwner_isRefusedByBoth_untilTheRankIsSilent() {
    Incarnation who = registered(a, OWNER, RANK, 2);
    assertThatThrownBy(() -> b.registry.claim(STRANGER, RANK, 0)).isInstanceOf(RankTakenException.class);
    assertThat(b.registry.heartbeat(STRANGER.owner(), who)).isFalse();
    pass(SILENCE.plusMillis(1));
    assertThat(b.registry.claim(STRANGER, RANK, 0)).isGreaterThan(who.generation());
    assertThatThrownBy(() -> a.registry.claim(OWNER, RANK, 0)).isInstanceOf(RankTakenException.class);
  }

  @Test
  void claims_areAboveAllThatEitherKnows_alsoOfARankThatIsGone() {
    Incarnation who = registered(a, OWNER, RANK, 2);
    a.registry.leave(OWNER.owner(), who);
    long next = b.registry.claim(OWNER, RANK, 0);
    assertThat(next).isGreaterThan(who.generation());
    assertThat(a.registry.claim(OWNER, RANK, 0)).isGreaterThan(next);
  }

  @Test
  void aClaimThatDiedWithItsRegistry_isGoodAtTheOther() {
    registered(a, OWNER, RANK, 2);
    isSplit = true;
    Incarnation next = RANK.since(a.registry.claim(OWNER, RANK, 0));
    b.registry.register(OWNER, of(next, 2));
    assertThat(b.shown()).containsExactly(next);
  }

  @Test
  void ofTwoOwners_whoWereTakenApart_theOneOfTheHigherGenerationStays() {
    isSplit = true;
    Incarnation one = registered(a, OWNER, RANK, 2);
    Incarnation other = registered(b, STRANGER, RANK, 2);
    isSplit = false;
    a.tellAll();
    b.tellAll();
    boolean isOne = one.generation() > other.generation();
    assertThat(one.generation()).isNotEqualTo(other.generation());
    assertThat(a.shown()).containsExactly(isOne ? one : other);
    assertThat(b.shown()).containsExactly(isOne ? one : other);
    assertThat((isOne ? b : a).registry.heartbeat((isOne ? STRANGER : OWNER).owner(), isOne ? other : one)).isFalse();
  }

  @Test
  void aRankThatOneSideHasLost_staysWithTheOther_whichKnowsBetter() {
    Incarnation who = registered(a, OWNER, RANK, 2);
    isSplit = true;
    for (int i = 0; i < 40; i++) {
      pass(SILENCE.dividedBy(2));
      a.registry.heartbeat(OWNER.owner(), who);
    }
    assertThat(b.shown()).isEmpty();
    assertThat(b.registry.facts()).extracting(RankFact::state).containsExactly(State.LOST);
    isSplit = false;
    b.tellAll();
    a.tellAll();
    assertThat(a.gone).isEmpty();
    assertThat(a.shown()).containsExactly(who);
    assertThat(b.shown()).containsExactly(who);
  }

  @Test
  void ranksThatDoNotGoTogether_giveWayToTheLowest_andComeBackWhenItLeaves() {
    isSplit = true;
    Incarnation lower = registered(a, OWNER, RANK, 2);
    Incarnation upper = registered(b, OWNER, new RankId("p", 1), 3);
    isSplit = false;
    b.tellAll();
    a.tellAll();
    assertThat(a.shown()).containsExactly(lower);
    assertThat(b.shown()).containsExactly(lower);
    assertThat(b.registry.heartbeat(OWNER.owner(), upper)).isFalse();
    a.registry.leave(OWNER.owner(), lower);
    b.tellAll();
    assertThat(a.shown()).containsExactly(upper);
    assertThat(b.registry.heartbeat(OWNER.owner(), upper)).isFalse();
    b.registry.register(OWNER, of(upper, 3));
    assertThat(b.shown()).containsExactly(upper);
  }

  @Test
  void replicas_areKnownAtBoth_andTheLowerOneStays() {
    a.registry.assign("address", "r", 3);
    assertThat(b.registry.replica("r")).hasValue(3);
    assertThatThrownBy(() -> b.registry.assign("address", "r", 2)).isInstanceOf(RegistrationRefusedException.class);
    b.registry.take("r", 2);
    assertThat(b.registry.replica("r")).hasValue(2);
    b.registry.take("r", 3);
    assertThat(b.registry.replica("r")).hasValue(2);
  }

  @Test
  void aRegistryThatHasNotJoined_answersNothing() {
    a.isReady = false;
    assertThatThrownBy(a::shown).isInstanceOf(RegistryApartException.class);
    assertThatThrownBy(() -> a.registry.claim(OWNER, RANK, 0)).isInstanceOf(RegistryApartException.class);
    assertThatThrownBy(() -> a.registry.assign("address", "r", 3)).isInstanceOf(RegistryApartException.class);
  }
}
