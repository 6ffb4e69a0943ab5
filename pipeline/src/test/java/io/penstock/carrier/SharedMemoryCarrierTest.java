package io.penstock.carrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.carrier.SliceReceiver.IncomingFrame;
import io.penstock.system.NativeFile;
import io.penstock.system.NativeMemory;
import io.penstock.system.SharedRegion;
import io.penstock.testkit.CarrierContract;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Two ends in one process.
final class SharedMemoryCarrierTest extends CarrierContract {
  /// One sentence, whatever a peer named.
  private static final String REFUSAL =
      "memory of the peer must be a region of Penstock, readable by the same user with the same process numbers "
          + "(was not)";

  private final SharedMemoryReceiver receiver = receiver();

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @AfterEach
  void closeReceiver() {
    receiver.close();
  }

  private static SharedMemoryReceiver receiver() {
    return new SharedMemoryReceiver(ProcessHandle.current().pid());
  }

  @Override
  protected Ends connect() {
    SharedMemoryReceiver mapping = receiver();
    return new Ends(new SharedMemorySender(), mapping, mapping::close);
  }

  @Override
  protected ChunkSource chunks() {
    return ChunkSource.shared("contract");
  }

  private static IncomingFrame frame(byte[] body) {
    return new IncomingFrame() {
      @Override
      public int bytes() {
        return body.length;
      }

      @Override
      public void read(int offset, MemorySegment to) {
        to.copyFrom(MemorySegment.ofArray(body).asSlice(offset, to.byteSize()));
      }
    };
  }

  @Test
  void memoryThatCannotBeRead_isSaid_andRemembered() throws IOException {
    byte[] body;
    try (SharedRegion gone = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 8192)) {
      body = SliceReferences.encode(List.of(gone), new int[1], new long[] {SharedRegion.HEADER_BYTES});
    }
    assertThat(receiver.isUnreadable()).isFalse();
    assertThatThrownBy(() -> receiver.arrived(frame(body), 1, 64)).isInstanceOf(PeerMemoryException.class);
    assertThat(receiver.isUnreadable()).isTrue();
  }

  @Test
  void references_outOfTheRegion_areRefused_whateverTheyOverflow() throws IOException {
    try (SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 8192)) {
      long end = SharedRegion.HEADER_BYTES + 8192;
      for (long offset : new long[] {-1, 0, SharedRegion.HEADER_BYTES - 1, end - 63, end, Long.MAX_VALUE,
        Long.MIN_VALUE, Long.MAX_VALUE - 32}) {
        byte[] body = SliceReferences.encode(List.of(region), new int[1], new long[] {offset});
        assertThatThrownBy(() -> receiver.arrived(frame(body), 1, 64)).as("%d", offset)
            .isInstanceOf(UnexpectedSliceException.class)
            .hasMessageStartingWith("slice offset of a block must be in [");
      }
      byte[] last = SliceReferences.encode(List.of(region), new int[1], new long[] {end - 64});
      receiver.arrived(frame(last), 1, 64).read(0, Arena.ofAuto().allocate(64));
      byte[] another = SliceReferences.encode(List.of(region), new int[] {1}, new long[] {SharedRegion.HEADER_BYTES});
      assertThatThrownBy(() -> receiver.arrived(frame(another), 1, 64)).isInstanceOf(UnexpectedSliceException.class)
          .hasMessage("slice region of a block must be in [0, 1) (was 1)");
    }
  }

  @Test
  void aRegionOfAnotherKind_orThatIsNone_isRefused() throws IOException {
    try (SharedRegion probe = SharedRegion.create(SharedRegion.Kind.CLIENT_PROBE, "test", 4096);
        NativeFile plain = NativeFile.memfd("penstock-plain", 8192)) {
      byte[] body = SliceReferences.encode(List.of(probe), new int[1], new long[] {SharedRegion.HEADER_BYTES});
      assertThatThrownBy(() -> receiver.arrived(frame(body), 1, 64)).isInstanceOf(PeerMemoryException.class)
          .hasMessage(REFUSAL);
      long me = ProcessHandle.current().pid();
      assertThatThrownBy(() -> MemoryProbe.readOfNode(me, plain.number())).isInstanceOf(PeerMemoryException.class)
          .hasMessage(REFUSAL);
      assertThatThrownBy(() -> MemoryProbe.readOfNode(me, 0)).isInstanceOf(PeerMemoryException.class)
          .hasMessage(REFUSAL);
      assertThatThrownBy(() -> MemoryProbe.readOfNode(Long.MAX_VALUE, 0)).isInstanceOf(PeerMemoryException.class)
          .hasMessage(REFUSAL);
    }
  }

  @Test
  void aRead_thatMeetsTheEndOfItsConnection_canBeRetried() throws IOException {
    try (SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 4096)) {
      byte[] body = SliceReferences.encode(List.of(region), new int[1], new long[] {SharedRegion.HEADER_BYTES});
      SliceReceiver.SliceBytes bytes = receiver.arrived(frame(body), 1, 64);
      receiver.close();
      assertThatThrownBy(() -> bytes.read(0, Arena.ofAuto().allocate(64))).isInstanceOf(PeerMemoryException.class)
          .hasMessageContaining("must be open");
      assertThat(receiver.isUnreadable()).isFalse();
    }
  }

  @Test
  void aClosedReceiver_mapsNothingMore() throws IOException {
    try (SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "test", 4096)) {
      byte[] body = SliceReferences.encode(List.of(region), new int[1], new long[] {SharedRegion.HEADER_BYTES});
      receiver.close();
      assertThatThrownBy(() -> receiver.arrived(frame(body), 1, 64)).isInstanceOf(PeerMemoryException.class);
    }
  }

  @Test
  void probes_areProvedByWhatStandsInThem_eachKindForItself() {
    MemoryProbe node = MemoryProbe.ofNode();
    MemoryProbe client = MemoryProbe.ofClient();
    assertThat(node.isProvedBy(MemoryProbe.readOfNode(node.process(), node.descriptor()))).isTrue();
    assertThat(client.isProvedBy(MemoryProbe.readOfClient(client.process(), client.descriptor()))).isTrue();
    assertThat(node.isProvedBy(MemoryProbe.readOfClient(client.process(), client.descriptor()))).isFalse();
    assertThatThrownBy(() -> MemoryProbe.readOfClient(node.process(), node.descriptor()))
        .isInstanceOf(PeerMemoryException.class);
  }
}
