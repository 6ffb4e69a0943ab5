package io.penstock.gateway.instance;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.InstanceView.State;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.gateway.dialect.EngineAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class RegistryFollowerTest {
  private static final RegistryFollower.Options OPTIONS = RegistryFollower.Options.defaults();
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final Instances instances =
      new Instances(HealthOptions.defaults(), address -> Mono.empty(), time);
  private final AtomicReference<Mono<List<InstanceView>>> registry = new AtomicReference<>(Mono.just(List.of()));
  private final RegistryFollower follower =
      new RegistryFollower(instances, OPTIONS, view -> view.manifest().model().equals("m"), time);

  @BeforeEach
  void follow() {
    follower.follow(Mono.defer(registry::get));
  }

  private static InstanceView view(String name, String model, State state, long generation, Engine engine) {
    Manifest manifest =
        Manifest.of(model, BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));
    return new InstanceView(name, Side.PREFILL, 1, manifest, state,
        List.of(new Registered(new RankId(name, 0).since(generation), new Endpoint("h", 1), engine)));
  }

  private static InstanceView view(String name, long generation, boolean isDraining) {
    return view(name, "m", State.READY, generation, engine("http://" + name + ":8100", isDraining));
  }

  private static Engine engine(String url, boolean isDraining) {
    return new Engine(Engine.Role.PREFILL, url, isDraining);
  }

  private void names(InstanceView... views) {
    registry.set(Mono.just(List.of(views)));
    time.advanceTimeBy(OPTIONS.interval());
  }

  private String states() {
    time.advanceTimeBy(Duration.ofMillis(1));
    return String.join(" ", instances.all().stream().map(each -> each + ":" + each.state()).toList());
  }

  @Test
  void enginesComeDrainAndGo_eachByItself() {
    names(view("a", 1, false), view("b", 1, false));
    assertThat(states()).isEqualTo("a:up b:up");
    assertThat(instances.all().getFirst().role()).isEqualTo(InstanceRole.PREFILL);
    names(view("a", 1, true), view("b", 1, false), view("c", 1, false));
    assertThat(states()).isEqualTo("a:draining b:up c:up");
    names(view("a", 1, false), view("b", 1, true));
    assertThat(states()).isEqualTo("a:up b:draining c:up");
    names(view("a", 1, false), view("c", 1, false));
    assertThat(states()).as("b has left after its drain").isEqualTo("a:up c:up");
  }

  @Test
  void anEngineWhoseLeaseExpired_isRemovedAfterSomePatience() {
    names(view("a", 1, false));
    names();
    time.advanceTimeBy(OPTIONS.patience().minus(OPTIONS.interval().multipliedBy(2)));
    assertThat(states()).isEqualTo("a:up");
    names(view("a", 2, false));
    names();
    time.advanceTimeBy(OPTIONS.patience().minus(OPTIONS.interval().multipliedBy(2)));
    assertThat(states()).as("it was back in between").isEqualTo("a:up");
    time.advanceTimeBy(OPTIONS.interval().multipliedBy(3));
    assertThat(states()).isEmpty();
  }

  @Test
  void aRegistryThatIsAway_takesNothing() {
    names(view("a", 1, false), view("b", 1, true));
    registry.set(Mono.error(new IllegalStateException("connection refused")));
    time.advanceTimeBy(OPTIONS.patience().multipliedBy(10));
    assertThat(states()).isEqualTo("a:up b:draining");
    registry.set(Mono.never());
    time.advanceTimeBy(OPTIONS.patience().multipliedBy(10));
    assertThat(states()).isEqualTo("a:up b:draining");
    names(view("a", 1, false));
    time.advanceTimeBy(OPTIONS.patience()); // the last look may still wait for its answer
    assertThat(states()).isEqualTo("a:up");
  }

  @Test
  void anInstanceThatWasRemovedByHand_comesBackWithItsNextStart() {
    names(view("a", 1, false));
    instances.remove("a").subscribe();
    names(view("a", 1, false));
    assertThat(states()).isEmpty();
    names(view("a", 2, false));
    assertThat(states()).isEqualTo("a:up");
    instances.drain("a", true);
    names(view("a", 2, false));
    assertThat(states()).as("a drain by hand stays").isEqualTo("a:draining");
  }

  @Test
  void anEngineThatMoves_isAnotherInstance() {
    names(view("a", 1, false));
    Instance before = instances.all().getFirst();
    names(view("a", "m", State.READY, 2, engine("http://other:1", false)));
    assertThat(before.state()).isEqualTo("removed");
    assertThat(instances.all().getFirst().address().toString()).isEqualTo("http://other:1");
  }

  @Test
  void enginesThatAreListed_unknown_orNotReady_areLeftOut() {
    instances.add("listed", InstanceRole.BOTH, EngineAddress.parse("http://a:8100"));
    names(view("a", 1, false), view("b", "other", State.READY, 1, engine("http://b:1", false)),
        view("c", "m", State.COMING, 1, engine("http://c:1", false)),
        view("d", "m", State.READY, 1, engine("http://d:1#unknown=1", false)), view("e", "m", State.READY, 1, null));
    assertThat(states()).isEqualTo("listed:up");
    instances.remove("listed").subscribe();
    time.advanceTimeBy(OPTIONS.interval());
    assertThat(states()).isEqualTo("a:up");
  }
}
