package io.penstock.wire.rank;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankFact;
import io.penstock.disagg.registry.RankFact.State;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.Registration;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.DisaggMessages;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A fact of a rank as bytes for members of a cluster. Big-endian; text as `DataOutput` writes it.
///
/// | Bytes | |
/// |---|---|
/// | 3 x 8 | version: generation, edition, teller |
/// | text, 4 | instance and number of the rank |
/// | 1 | state: 0 owned, 1 left, 2 lost |
/// | 1, 32 | whether the owner is a user; its digest |
/// | rest | the registration, as the message of a rank says it; nothing if there is none |
final class FactForm {
  private FactForm() {}

  static byte[] write(RankFact fact) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(fact.generation());
      out.writeLong(fact.edition());
      out.writeLong(fact.teller());
      out.writeUTF(fact.rank().instance());
      out.writeInt(fact.rank().rank());
      out.writeByte(fact.state().ordinal());
      out.writeBoolean(fact.owner().isUser());
      out.write(fact.owner().digest());
      Registration registration = fact.registration();
      if (registration != null) {
        out.write(message(registration));
      }
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  private static byte[] message(Registration registration) {
    ByteBuf message = NodeConnection.CODEC.encode(DisaggMessages.RegisterRequest.of(registration, null),
        ByteBufAllocator.DEFAULT);
    try {
      return ByteBufUtil.getBytes(message);
    } finally {
      message.release();
    }
  }

  /// @throws IOException if the bytes end too early
  /// @throws RuntimeException if they say what no release knows
  static RankFact read(byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    long generation = in.readLong();
    long edition = in.readLong();
    long teller = in.readLong();
    RankId rank = new RankId(in.readUTF(), in.readInt());
    State state = State.values()[in.readUnsignedByte()];
    boolean isUser = in.readBoolean();
    RankOwner owner = RankOwner.told(isUser, in.readNBytes(RankOwner.DIGEST));
    return new RankFact(rank, generation, edition, teller, owner, state, registration(in.readAllBytes()));
  }

  private static @Nullable Registration registration(byte[] message) {
    return message.length == 0
        ? null
        : NodeConnection.CODEC.decode(Unpooled.wrappedBuffer(message), DisaggMessages.RegisterRequest.class)
            .registration();
  }
}
