package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.node.config.BlockShape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OtherShapeTest {
  private static final HostPort NODE = new HostPort("127.0.0.1", 7733);
  private static final BlockLayout OURS = BlockShape.of(4 << 10, 4).layout();

  private static String planes(String theirs) {
    return "space must be the server's (was layout.planes: [Plane[" + theirs + "]], [Plane[name=kv, type=BF16, heads=1, width=8]] (the client's second))";
  }

  @Test
  void planesOfKnownTypes_areToldAsTheirBytes() {
    String theirs = planes("name=kv, type=FP32, heads=2, width=8");
    long bytes = 4L * 2 * 8 * OURS.layers() * OURS.tokens();

    assertThat(OtherShape.sentence(NODE, OURS, theirs)).isEqualTo("--block-bytes must be " + bytes / 1024 + " KiB, as at the node at 127.0.0.1:7733 (was 4 KiB)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"name=kv, type=FP4_E2M1, heads=2, width=8", "name=kv, type=FP32, heads=99999999999999999999, width=8"})
  void planesThatOnlyANewerNodeKnows_areToldInItsWords(String plane) {
    assertThat(OtherShape.sentence(NODE, OURS, planes(plane)))
        .isEqualTo("blocks must have the shape of those of the node at 127.0.0.1:7733, which keeps others (" + planes(plane) + ")");
  }
}
