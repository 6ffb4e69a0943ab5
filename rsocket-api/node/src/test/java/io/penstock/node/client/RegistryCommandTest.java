package io.penstock.node.client;

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
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RegistryCommandTest {
  private static final Manifest MANIFEST =
      Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));

  @ParameterizedTest
  @CsvSource({"BOTH,both", "PREFILL,prefill", ",prefill"})
  void engineThatDoesBoth_isShownSo(Engine.@Nullable Role role, String side) {
    Engine engine = role == null ? null : new Engine(role, "http://h:1", false);
    InstanceView view = new InstanceView("a", Side.PREFILL, 1, MANIFEST, State.READY,
        List.of(new Registered(new RankId("a", 0).since(1), new Endpoint("h", 1), engine)));

    assertThat(RegistryCommand.Shown.of(view).side()).isEqualTo(side);
  }
}
