package io.penstock.cluster.infinispan;

import java.io.IOException;
import java.util.Arrays;
import org.infinispan.protostream.FileDescriptorSource;
import org.infinispan.protostream.ProtobufTagMarshaller;
import org.infinispan.protostream.SerializationContext;
import org.infinispan.protostream.SerializationContextInitializer;
import org.infinispan.protostream.TagReader;
import org.infinispan.protostream.TagWriter;
import org.infinispan.protostream.descriptors.WireType;

/// How [Announce] and [Forget] travel between members.
final class ClusterSchema implements SerializationContextInitializer {
  private static final String FILE = "penstock-cluster.proto";
  private static final String SCHEMA =
      """
          syntax = "proto3";
          package penstock;
          message Announce {
            fixed64 round = 1;
            int32 level = 2;
            repeated fixed64 former = 3;
          }
          message Forget {
            repeated fixed64 rounds = 1;
          }
          """;
  private static final int FIRST = 1;
  private static final int SECOND = 2;
  private static final int THIRD = 3;

  @Override
  public void registerSchema(SerializationContext context) {
    context.registerProtoFiles(FileDescriptorSource.fromString(FILE, SCHEMA));
  }

  @Override
  public void registerMarshallers(SerializationContext context) {
    context.registerMarshaller(new AnnounceMarshaller());
    context.registerMarshaller(new ForgetMarshaller());
  }

  private static final class AnnounceMarshaller implements ProtobufTagMarshaller<Announce> {
    @Override
    public Class<Announce> getJavaClass() {
      return Announce.class;
    }

    @Override
    public String getTypeName() {
      return Announce.TYPE;
    }

    @Override
    public void write(WriteContext context, Announce announce) throws IOException {
      TagWriter to = context.getWriter();
      to.writeFixed64(FIRST, announce.round());
      to.writeInt32(SECOND, announce.level());
      for (long round : announce.former()) {
        to.writeFixed64(THIRD, round);
      }
    }

    @Override
    public Announce read(ReadContext context) throws IOException {
      TagReader from = context.getReader();
      long round = 0;
      int level = 0;
      long[] former = {};
      for (int tag = from.readTag(); tag != 0; tag = from.readTag()) {
        switch (WireType.getTagFieldNumber(tag)) {
          case FIRST -> round = from.readFixed64();
          case SECOND -> level = from.readInt32();
          case THIRD -> former = and(former, from.readFixed64());
          default -> from.skipField(tag);
        }
      }
      return new Announce(round, level, former);
    }
  }

  private static final class ForgetMarshaller implements ProtobufTagMarshaller<Forget> {
    @Override
    public Class<Forget> getJavaClass() {
      return Forget.class;
    }

    @Override
    public String getTypeName() {
      return Forget.TYPE;
    }

    @Override
    public void write(WriteContext context, Forget forget) throws IOException {
      for (long round : forget.rounds()) {
        context.getWriter().writeFixed64(FIRST, round);
      }
    }

    @Override
    public Forget read(ReadContext context) throws IOException {
      TagReader from = context.getReader();
      long[] rounds = {};
      for (int tag = from.readTag(); tag != 0; tag = from.readTag()) {
        if (WireType.getTagFieldNumber(tag) == FIRST) {
          rounds = and(rounds, from.readFixed64());
        } else {
          from.skipField(tag);
        }
      }
      return new Forget(rounds);
    }
  }

  private static long[] and(long[] some, long another) {
    long[] all = Arrays.copyOf(some, some.length + 1);
    all[some.length] = another;
    return all;
  }
}
