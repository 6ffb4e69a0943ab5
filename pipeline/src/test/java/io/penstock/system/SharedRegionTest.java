package io.penstock.system;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SharedRegionTest {
  private static final long ME = ProcessHandle.current().pid();

  @BeforeEach
  void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @Test
  void aRegion_isFoundByAddress_untilItIsClosed() throws IOException {
    SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 8192);
    long first = region.memory().address();
    assertThat(SharedRegion.at(first)).isSameAs(region);
    assertThat(SharedRegion.at(first + 8191)).isSameAs(region);
    assertThat(SharedRegion.at(first - 1)).as("the header holds no blocks").isNull();
    assertThat(region.offset(first)).isEqualTo(SharedRegion.HEADER_BYTES);
    region.close();
    region.close();
    assertThat(SharedRegion.at(first)).isNull();
  }

  @Test
  void aPeer_readsWhatTheOwnerWrites_alsoAfterTheOwnerHasClosed() throws IOException {
    SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 8192);
    try (PeerRegion peer = PeerRegion.map(ME, region.descriptor(), SharedRegion.Kind.BLOCKS)) {
      assertThat(peer.hasToken(region.token())).isTrue();
      assertThat(peer.hasToken(new byte[SharedRegion.TOKEN_BYTES])).isFalse();
      region.memory().set(JAVA_BYTE, 8191, (byte) 5);
      region.close();
      assertThat(peer.memory().get(JAVA_BYTE, SharedRegion.HEADER_BYTES + 8191)).isEqualTo((byte) 5);
      assertThat(peer.memory().isReadOnly()).isTrue();
    }
  }

  @Test
  void largePages_holdWhatThePartHeld_andHaveTheirPlaceInEachMapping() throws IOException {
    long large = NativeMemory.LARGE_PAGE_BYTES;
    try (SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 3 * large);
        PeerRegion peer = PeerRegion.map(ME, region.descriptor(), SharedRegion.Kind.BLOCKS)) {
      region.memory().asSlice(large, 5).fill((byte) 5);
      for (int again = 0; again < 2; again++) {
        region.enlarge(region.memory().asSlice(large - 1, large + 2));
        region.enlarge(region.memory());
      }
      assertThat(peer.memory().asSlice(SharedRegion.HEADER_BYTES + large, 5).toArray(JAVA_BYTE)).containsOnly(5);
      assertThat(peer.memory().get(JAVA_BYTE, SharedRegion.HEADER_BYTES + large + 5)).isZero();
      assertThat(peer.hasToken(region.token())).isTrue();
      assertThat(region.all().address() % large).isZero();
      assertThat(peer.memory().address() % large).isZero();
    }
  }

  @Test
  void noProcess_changesTheLength_orMapsItToWrite() throws IOException {
    try (SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 8192);
        Arena arena = Arena.ofConfined();
        NativeFile again = NativeFile.open(Path.of("/proc/self/fd/" + region.descriptor()))) {
      assertThatThrownBy(() -> again.resize(4096)).isInstanceOf(SystemCallException.class);
      assertThatThrownBy(() -> again.map(8192, arena)).isInstanceOf(SystemCallException.class)
          .hasMessageContaining("EPERM");
    }
  }
}
