package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.node.config.BlockShape;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OtherShapeTest {
  private static final HostPort NODE = new HostPort("127.0.0.1", 7733);
  private static final BlockLayout OURS = BlockShape.of(4 << 10, 4).layout();

  private static final Set<String> FLAGS = Set.of("--model", "--layers", "--block-bytes");

  private static String planes(String theirs) {
    return "space must be the server's (was layout.planes: [Plane[" + theirs
        + "]], [Plane[name=kv, type=BF16, heads=1, width=8]] (the client's second))";
  }

  @Test
  void planesOfKnownTypes_areToldAsTheirBytes() {
    String theirs = planes("name=kv, type=FP32, heads=2, width=16");
    long bytes = 4L * 2 * 16 * OURS.layers() * OURS.tokens();

    assertThat(OtherShape.sentence(NODE, OURS, FLAGS, theirs))
        .isEqualTo("--block-bytes must be " + bytes / 1024 + " KiB, as at the node at 127.0.0.1:7733 (was 4 KiB)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"name=kv, type=FP4_E2M1, heads=2, width=8", "name=kv, type=FP32, heads=99999999999999999999, width=8"})
  void planesThatOnlyANewerNodeKnows_areToldInItsWords(String plane) {
    assertToldInItsWords(planes(plane));
  }

  @Test
  void planesOfTheSameBytes_areToldInItsWords() {
    long width = OURS.blockBytes() / OURS.layers() / OURS.tokens() / 2;
    assertToldInItsWords(planes("name=kv, type=FP16, heads=1, width=" + width));
  }

  @ParameterizedTest
  @ValueSource(strings = {"name=kv, bits=12", "name=kv, type=FP32, heads=2, width=8], Plane[name=scale, bits=12"})
  void planesInAnotherForm_areToldInItsWords(String planes) {
    assertToldInItsWords(planes(planes));
  }

  @Test
  void flagThatTheCommandHasNot_isNotNamed() {
    String said = "space must be the server's (was layout.tokens: 32, 16 (the client's second))";

    assertThat(OtherShape.sentence(NODE, OURS, Set.of("--block-tokens"), said))
        .isEqualTo("--block-tokens must be 32, as at the node at 127.0.0.1:7733 (was 16)");
    assertToldInItsWords(said);
  }

  private static void assertToldInItsWords(String said) {
    assertThat(OtherShape.sentence(NODE, OURS, FLAGS, said))
        .isEqualTo(
            "blocks must have the shape of those of the node at 127.0.0.1:7733, which keeps others (" + said + ")");
  }
}
