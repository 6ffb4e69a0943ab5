package io.penstock.s3.serve;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorSocket;
import io.penstock.node.door.DoorTerms;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The door, open.
final class S3Server implements Door {
  /// A key of 1,024 bytes, each encoded, and a query with a signature and a token.
  private static final HttpDecoderConfig HTTP = new HttpDecoderConfig().setMaxInitialLineLength(16 << 10)
      .setMaxHeaderSize(32 << 10).setMaxChunkSize(64 << 10);

  private final S3House house;
  private final @Nullable ServerTls tls;
  private final Runnable drains;
  private final Mono<Void> last;
  private final DoorSocket socket;
  private final Mono<Void> drained = Mono.defer(this::drainNow).cache();
  private final Mono<Void> closed = Mono.defer(this::closeNow).cache();

  /// @param drains told when nothing new is to be stored
  /// @param last what ends after the last connection
  S3Server(S3House house, DoorTerms terms, Runnable drains, Mono<Void> last) throws IOException {
    this.house = house;
    this.tls = terms.tls();
    this.drains = drains;
    this.last = last;
    if (terms.listen().transport() != TransportKind.TCP) {
      throw new IOException("it is no HOST:PORT");
    }
    this.socket = DoorSocket.bind(terms, DoorSettings.S3.name(), house.limits.mostConnections(), this::accept);
  }

  private void accept(Channel channel) {
    channel.config().setAutoRead(false);
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.addLast(new WriteStall(house.limits.stallNanos()));
    if (tls != null) {
      pipeline.addLast(tls.handler(channel.alloc()));
    }
    HeadDecoder decoder = new HeadDecoder(HTTP);
    pipeline.addLast(decoder, new HttpResponseEncoder(), new S3Connection(house, decoder));
  }

  @Override
  public Endpoint address() {
    return socket.address();
  }

  @Override
  public int connections() {
    return socket.connections();
  }

  @Override
  public Mono<Void> drain() {
    return drained;
  }

  private Mono<Void> drainNow() {
    drains.run();
    return socket.drain(house::underWay, house::keepNone);
  }

  @Override
  public Mono<Void> close() {
    return closed;
  }

  private Mono<Void> closeNow() {
    drains.run();
    return socket.end().then(socket.idle(house::underWay)).then(last);
  }
}
