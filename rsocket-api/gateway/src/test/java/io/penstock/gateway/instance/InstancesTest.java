package io.penstock.gateway.instance;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.dialect.EngineAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class InstancesTest {
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final AtomicBoolean healthy = new AtomicBoolean(true);
  private final Instances instances = new Instances(HealthOptions.defaults(),
      address -> healthy.get() ? Mono.empty() : Mono.error(new IllegalStateException("ill")), time);
  private final Instance instance =
      instances.add("a", InstanceRole.BOTH, EngineAddress.parse("http://127.0.0.1:1"));

  private void probes(int number) {
    time.advanceTimeBy(HealthOptions.defaults().interval().multipliedBy(number));
  }

  @Test
  void healthHasHysteresis() {
    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(instance.isLive()).isTrue();
    healthy.set(false);
    Instance other = instances.add("b", InstanceRole.BOTH, EngineAddress.parse("http://127.0.0.1:2"));
    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(other.isLive()).isFalse();
    probes(2);
    assertThat(instance.isLive()).isTrue();
    probes(1);
    assertThat(instance.isLive()).isFalse();
    assertThat(instances.tried(InstanceRole.BOTH)).as("the other one never answered").containsExactly(instance);
    assertThat(instance.begin()).as("no other is live").isTrue();
    instance.end();
    healthy.set(true);
    probes(1);
    assertThat(instance.isLive()).isFalse();
    probes(1);
    assertThat(instance.isLive()).isTrue();
  }

  @Test
  void removal_completesWithTheLastRequest() {
    time.advanceTimeBy(Duration.ofMillis(1));
    AtomicInteger gone = new AtomicInteger();
    assertThat(instance.begin()).isTrue();
    instances.remove("a").subscribe(nothing -> {}, failure -> {}, gone::incrementAndGet);

    assertThat(instance.begin()).isFalse();
    assertThat(gone).hasValue(0);
    instance.end();
    assertThat(gone).hasValue(1);
    assertThat(instances.all()).isEmpty();
  }
}
