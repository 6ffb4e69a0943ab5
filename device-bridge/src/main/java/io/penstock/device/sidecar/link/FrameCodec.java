package io.penstock.device.sidecar.link;

import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage.Bye;
import io.penstock.device.sidecar.link.SideCarMessage.ClientId;
import io.penstock.device.sidecar.link.SideCarMessage.Copy;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import io.penstock.device.sidecar.link.SideCarMessage.Hello;
import io.penstock.device.sidecar.link.SideCarMessage.Keep;
import io.penstock.device.sidecar.link.SideCarMessage.Known;
import io.penstock.device.sidecar.link.SideCarMessage.Ping;
import io.penstock.device.sidecar.link.SideCarMessage.Query;
import io.penstock.device.sidecar.link.SideCarMessage.Register;
import io.penstock.device.sidecar.link.SideCarMessage.Unregister;
import io.penstock.device.sidecar.link.SideCarMessage.Welcome;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Frames as bytes, big-endian: remaining length (u32), version (u8), type (u8), zeros (u16), request (u64), body.
/// `docs/sidecar-protocol.md` describes the bodies.
public final class FrameCodec {
  static final int VERSION = 1;
  static final int MAGIC = 0x5053_5343;
  static final int LENGTH_BYTES = 4;
  /// Version, type, zeros and request.
  static final int HEADER_BYTES = 12;
  /// Longest frame, without its length.
  static final int MAX_BYTES = 256 << 10;

  private static final int COPY_BYTES = 40;
  private static final int MAX_TEXT = 1024;

  private FrameCodec() {}

  public static ByteBuffer encode(Frame frame) {
    ByteBuffer out = ByteBuffer.allocate(LENGTH_BYTES + HEADER_BYTES + room(frame.message()));
    out.putInt(0).put((byte) VERSION).put((byte) type(frame.message())).putShort((short) 0).putLong(frame.request());
    body(frame.message(), out);
    return out.putInt(0, out.position() - LENGTH_BYTES).flip();
  }

  private static int type(SideCarMessage message) {
    return switch (message) {
      case Hello _ -> 1;
      case Keep _ -> 2;
      case Register _ -> 3;
      case Unregister _ -> 4;
      case Copy _ -> 5;
      case Query _ -> 6;
      case Ping _ -> 7;
      case Bye _ -> 8;
      case Welcome _ -> 129;
      case Done _ -> 130;
      case Known _ -> 131;
      case Failed _ -> 132;
    };
  }

  private static int room(SideCarMessage message) {
    return switch (message) {
      case Copy copy -> 4 + copy.elements().size() * COPY_BYTES;
      case Keep keep -> 4 + keep.regions().size() * Long.BYTES;
      case Register _ -> RegionCodec.MAX_BYTES;
      case Failed _ -> 16 + MAX_TEXT;
      default -> 32;
    };
  }

  private static void body(SideCarMessage message, ByteBuffer out) {
    switch (message) {
      case Hello hello ->
        out.putInt(MAGIC).putLong(hello.client().high()).putLong(hello.client().low()).putInt(hello.process());
      case Keep keep -> {
        out.putInt(keep.regions().size());
        keep.regions().forEach(out::putLong);
      }
      case Register register -> RegionCodec.put(register.region(), out);
      case Unregister unregister -> out.putLong(unregister.region());
      case Copy copy -> {
        out.putInt(copy.elements().size());
        copy.elements().forEach(
            each -> out.putLong(each.from()).putLong(each.fromOffset()).putLong(each.to()).putLong(each.toOffset())
                .putLong(each.bytes()));
      }
      case Query query -> out.putLong(query.region());
      case Welcome welcome -> out.putInt(welcome.maxCopies());
      case Known known -> out.put((byte) known.state().ordinal()).putLong(known.bytes());
      case Failed failed ->
        out.putShort((short) failed.code().number()).putLong(failed.region()).put(text(failed.found()));
      case Ping _,Bye _,Done _ -> {
      }
    }
  }

  /// Cut where it is too long for a frame.
  private static byte[] text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= MAX_TEXT ? bytes : Arrays.copyOf(bytes, MAX_TEXT);
  }

  /// Reads one frame without its length, all of `in`.
  static Frame decode(ByteBuffer in) throws MalformedFrameException {
    long request = 0;
    try {
      int version = Byte.toUnsignedInt(in.get());
      if (version != VERSION) {
        throw new MalformedFrameException(SideCarCode.VERSION, 0, "version " + version + ", not " + VERSION);
      }
      int type = Byte.toUnsignedInt(in.get());
      int zeros = in.getShort();
      request = in.getLong();
      SideCarMessage message = message(type, in);
      if (zeros != 0 || in.hasRemaining()) {
        throw new IllegalArgumentException(zeros != 0 ? "reserved bytes in use" : in.remaining() + " bytes too many");
      }
      return new Frame(request, message);
    } catch (BufferUnderflowException e) {
      throw new MalformedFrameException(SideCarCode.MALFORMED, request, "body cut short");
    } catch (IllegalArgumentException e) {
      throw new MalformedFrameException(SideCarCode.MALFORMED, request, String.valueOf(e.getMessage()));
    }
  }

  private static SideCarMessage message(int type, ByteBuffer in) {
    return switch (type) {
      case 1 -> hello(in);
      case 2 -> new Keep(longs(in));
      case 3 -> new Register(RegionCodec.get(in));
      case 4 -> new Unregister(in.getLong());
      case 5 -> new Copy(elements(in));
      case 6 -> new Query(in.getLong());
      case 7 -> new Ping();
      case 8 -> new Bye();
      case 129 -> new Welcome(in.getInt());
      case 130 -> new Done();
      case 131 -> new Known(state(in.get()), in.getLong());
      case 132 -> failed(in);
      default -> throw new IllegalArgumentException("unknown type " + type);
    };
  }

  private static Hello hello(ByteBuffer in) {
    if (in.getInt() != MAGIC) {
      throw new IllegalArgumentException("no side-car speaks there");
    }
    return new Hello(new ClientId(in.getLong(), in.getLong()), in.getInt());
  }

  private static List<Long> longs(ByteBuffer in) {
    int count = count(in, Long.BYTES);
    List<Long> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      values.add(in.getLong());
    }
    return values;
  }

  private static List<RegionCopy> elements(ByteBuffer in) {
    int count = count(in, COPY_BYTES);
    if (count == 0 || count > RegionCopy.MAX_ELEMENTS) {
      throw new IllegalArgumentException(count + " elements, not 1 to " + RegionCopy.MAX_ELEMENTS);
    }
    List<RegionCopy> elements = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      elements.add(new RegionCopy(in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong()));
    }
    return elements;
  }

  /// Never more than there are bytes for, so that a hostile count allocates nothing.
  private static int count(ByteBuffer in, int bytesEach) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / bytesEach) {
      throw new IllegalArgumentException(
          "count " + Integer.toUnsignedString(count) + " in " + in.remaining() + " bytes");
    }
    return count;
  }

  private static RegionState state(int number) {
    RegionState[] states = RegionState.values();
    if (number < 0 || number >= states.length) {
      throw new IllegalArgumentException("unknown state " + number);
    }
    return states[number];
  }

  private static Failed failed(ByteBuffer in) {
    SideCarCode code = SideCarCode.of(Short.toUnsignedInt(in.getShort()));
    long region = in.getLong();
    byte[] text = new byte[Math.min(in.remaining(), MAX_TEXT)];
    in.get(text);
    return new Failed(code, region, new String(text, StandardCharsets.UTF_8));
  }

  /// Bytes that are no frame of this version.
  public static final class MalformedFrameException extends Exception {
    private final SideCarCode code;
    private final long request;

    /// @param request that it was, 0 if that could not be read
    MalformedFrameException(SideCarCode code, long request, String found) {
      super(found);
      this.code = code;
      this.request = request;
    }

    public SideCarCode code() {
      return code;
    }

    public long request() {
      return request;
    }

    public String found() {
      return String.valueOf(getMessage());
    }
  }
}
