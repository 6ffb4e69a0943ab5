package io.penstock.cluster.infinispan;

import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import io.penstock.wire.cluster.Member.State;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// What a member tells of itself.
///
/// Members of neighbouring releases read each other's records. In bytes, a record has its version, the fields of
/// version 1 in their order, then fields of later releases: the number of the field (a byte), its length (two bytes),
/// its bytes. A reader skips numbers that it does not know, and takes a field that is missing for its default. So the
/// version stays 1 as long as what is added may be skipped.
///
/// @param address that the engine gave it, other than at any other start
/// @param reunions of a split cluster that it noticed, see [io.penstock.cluster.directory.Reunion]
/// @param rounds of announcements that count; never changed
/// @param tellings how often it was told, so that others see that its member lives; 0 from a release that does not say
record MemberRecord(UUID address, Member member, int reunions, long[] rounds, int tellings) {
  private static final int VERSION = 1;
  /// Number of the field `tellings`.
  private static final int TELLINGS = 1;
  /// Number of the field [Member.Figures#idleMillis()].
  private static final int IDLE = 2;

  byte[] bytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream to = new DataOutputStream(bytes)) {
      to.writeByte(VERSION);
      to.writeLong(address.getMostSignificantBits());
      to.writeLong(address.getLeastSignificantBits());
      write(to, member);
      to.writeInt(reunions);
      to.writeInt(rounds.length);
      for (long round : rounds) {
        to.writeLong(round);
      }
      to.writeByte(TELLINGS);
      to.writeShort(Integer.BYTES);
      to.writeInt(tellings);
      to.writeByte(IDLE);
      to.writeShort(Long.BYTES);
      to.writeLong(member.figures().idleMillis());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream to, Member member) throws IOException {
    to.writeUTF(member.name());
    to.writeLong(member.generation());
    to.writeInt(member.endpoints().size());
    for (String endpoint : member.endpoints()) {
      to.writeUTF(endpoint);
    }
    to.writeUTF(member.place());
    to.writeByte(member.state().ordinal());
    to.writeLong(member.figures().bytes());
    to.writeLong(member.figures().capacityBytes());
    to.writeLong(member.figures().inFlightBytes());
  }

  /// @throws UncheckedIOException if the bytes are no record, or of a version that this release cannot read
  static MemberRecord read(byte[] bytes) {
    try (DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = from.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException("version of the record must be " + VERSION + " for this release (was " + version + ")");
      }
      UUID address = new UUID(from.readLong(), from.readLong());
      Member untimed = readMember(from);
      int reunions = from.readInt();
      long[] rounds = readRounds(from);
      int tellings = 0;
      long idleMillis = 0;
      while (from.available() > 0) {
        int field = from.readUnsignedByte();
        int length = from.readUnsignedShort();
        if (field == TELLINGS && length == Integer.BYTES) {
          tellings = from.readInt();
        } else if (field == IDLE && length == Long.BYTES) {
          idleMillis = from.readLong();
        } else {
          from.skipNBytes(length);
        }
      }
      return new MemberRecord(address, untimed.withIdle(Math.max(0, idleMillis)), reunions, rounds, tellings);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long[] readRounds(DataInputStream from) throws IOException {
    int count = from.readInt();
    if (count < 0 || count > from.available() / Long.BYTES) {
      throw new IOException("rounds must be as many as the record has bytes for (was " + count + ")");
    }
    long[] rounds = new long[count];
    for (int i = 0; i < count; i++) {
      rounds[i] = from.readLong();
    }
    return rounds;
  }

  private static Member readMember(DataInputStream from) throws IOException {
    String name = from.readUTF();
    long generation = from.readLong();
    List<String> endpoints = new ArrayList<>();
    for (int left = from.readInt(); left > 0; left--) {
      endpoints.add(from.readUTF());
    }
    String place = from.readUTF();
    int state = from.readUnsignedByte();
    return new Member(name, generation, endpoints, place, state == State.UP.ordinal() ? State.UP : State.DRAINING,
        new Figures(from.readLong(), from.readLong(), from.readLong()));
  }
}
