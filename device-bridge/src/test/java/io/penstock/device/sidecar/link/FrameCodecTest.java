package io.penstock.device.sidecar.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSource.FabricBuffer;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage.ClientId;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class FrameCodecTest {
  static List<SideCarMessage> messages() {
    return List.of(new SideCarMessage.Hello(new ClientId(-1, 7), 42), new SideCarMessage.Keep(List.of()),
        new SideCarMessage.Keep(List.of(1L, Long.MAX_VALUE)),
        new SideCarMessage.Register(new RegionSpec(1, RegionSpec.MAX_BYTES, new Memfd(0))),
        new SideCarMessage.Register(
            new RegionSpec(Long.MAX_VALUE, 1, new MappedFile(Path.of("/dev/shm/" + "x".repeat(2000))))),
        new SideCarMessage.Register(new RegionSpec(2, 3, new IpcBuffer(15, IpcKey.of(new byte[65])))),
        new SideCarMessage.Register(new RegionSpec(2, 3, new FabricBuffer(0, FabricHandle.of(new byte[128])))),
        new SideCarMessage.Unregister(-5),
        new SideCarMessage.Copy(Collections.nCopies(RegionCopy.MAX_ELEMENTS, new RegionCopy(1, 2, 3, -4, 5))),
        new SideCarMessage.Query(0), new SideCarMessage.Ping(), new SideCarMessage.Bye(),
        new SideCarMessage.Welcome(32), new SideCarMessage.Done(),
        new SideCarMessage.Known(RegionState.MAPPED, 9), new SideCarMessage.Failed(SideCarCode.BUSY, 3, "why, naïve"));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void everyMessage_cutAnywhere_isReadAsItWas(SideCarMessage message) throws MalformedFrameException {
    Frame frame = new Frame(77, message);
    byte[] bytes = FrameCodec.encode(frame).array().clone();
    int length = FrameCodec.encode(frame).remaining();
    Random random = new Random(1);
    FrameReader reader = new FrameReader();
    List<Frame> read = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int at = 0; at < length;) {
        int some = Math.min(length - at, 1 + random.nextInt(40_000));
        at += feed(reader, bytes, at, some, read);
      }
    }
    assertThat(read).containsExactly(frame, frame, frame);
    assertThat(reader.isInFrame()).isFalse();
  }

  private static int feed(FrameReader reader, byte[] bytes, int at, int some, List<Frame> read)
      throws MalformedFrameException {
    ByteBuffer room = reader.room();
    int fits = Math.min(some, room.remaining());
    room.put(bytes, at, fits);
    reader.read(read::add);
    return fits;
  }

  @ParameterizedTest
  @MethodSource("messages")
  void everyMessage_cutShortInside_isRefused(SideCarMessage message) {
    ByteBuffer whole = FrameCodec.encode(new Frame(1, message));
    if (message instanceof SideCarMessage.Failed) {
      return; // ends in text of any length
    }
    int longest = whole.remaining() - FrameCodec.LENGTH_BYTES;
    for (int length = 0; length < longest; length += longest > 1000 ? 997 : 1) {
      ByteBuffer cut = whole.slice(FrameCodec.LENGTH_BYTES, length);
      assertThatThrownBy(() -> FrameCodec.decode(cut)).as("%s bytes of %s", length, longest)
          .isInstanceOf(MalformedFrameException.class);
    }
  }

  @Test
  void length_outOfBounds_isRefusedBeforeItsBytesCome() {
    for (int length : new int[] {-1, Integer.MIN_VALUE, 0, FrameCodec.HEADER_BYTES - 1, FrameCodec.MAX_BYTES + 1,
      Integer.MAX_VALUE}) {
      FrameReader reader = new FrameReader();
      reader.room().putInt(length);
      assertThatThrownBy(() -> reader.read(frame -> {})).as("length %s", length)
          .isInstanceOf(MalformedFrameException.class);
    }
  }

  @Test
  void version_unknown_isRefusedAsSuch() {
    ByteBuffer frame = FrameCodec.encode(new Frame(1, new SideCarMessage.Ping()));
    frame.put(FrameCodec.LENGTH_BYTES, (byte) 2);
    assertThatThrownBy(() -> FrameCodec.decode(frame.position(FrameCodec.LENGTH_BYTES))).isInstanceOfSatisfying(
        MalformedFrameException.class,
        e -> assertThat(e.code()).isEqualTo(SideCarCode.VERSION));
  }

  @Test
  void bytes_random_areAFrameOrRefused_over4000Seeds() {
    randomBytes(4_000);
  }

  @Test
  @Tag("proof")
  void bytes_random_areAFrameOrRefused_over1000000Seeds() {
    randomBytes(1_000_000);
  }

  private static void randomBytes(int seeds) {
    List<SideCarMessage> messages = messages();
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      SideCarMessage message = messages.get(random.nextInt(messages.size()));
      if (message instanceof SideCarMessage.Copy) {
        message = new SideCarMessage.Copy(List.of(new RegionCopy(1, 2, 3, 4, 5)));
      }
      ByteBuffer bytes = FrameCodec.encode(new Frame(seed, message));
      for (int flips = random.nextInt(4); flips >= 0; flips--) {
        int at = FrameCodec.LENGTH_BYTES + random.nextInt(bytes.limit() - FrameCodec.LENGTH_BYTES);
        bytes.put(at, (byte) random.nextInt(256));
      }
      try {
        FrameCodec.decode(bytes.position(FrameCodec.LENGTH_BYTES));
      } catch (MalformedFrameException e) {
        assertThat(e.code()).as("seed %s", seed).isIn(SideCarCode.MALFORMED, SideCarCode.VERSION);
      }
    }
  }
}
