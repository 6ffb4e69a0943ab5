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
/// @param address that the engine gave it, other than at any other start
/// @param reunions of a split cluster that it noticed, see [io.penstock.cluster.directory.Reunion]
/// @param rounds of announcements that count; never changed
record MemberRecord(UUID address, Member member, int reunions, long[] rounds) {
  private static final int VERSION = 1;

  /// The record as bytes: a version, then the fields in order.
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
      to.writeLong(member.figures().idleMillis()); // the last field: members that do not know it leave it unread
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

  /// @throws UncheckedIOException if the bytes are no record of this version
  static MemberRecord read(byte[] bytes) {
    try (DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = from.readUnsignedByte();
      if (version != VERSION) {
        throw new IOException("version of a member's record must be " + VERSION + " (was " + version + ")");
      }
      UUID address = new UUID(from.readLong(), from.readLong());
      Member untimed = readMember(from);
      int reunions = from.readInt();
      long[] rounds = new long[from.readInt()];
      for (int i = 0; i < rounds.length; i++) {
        rounds[i] = from.readLong();
      }
      long idleMillis = from.available() >= Long.BYTES ? from.readLong() : 0; // one from before has none
      return new MemberRecord(address, untimed.withIdle(idleMillis), reunions, rounds);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
