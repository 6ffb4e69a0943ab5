package io.penstock.resp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.redis.FixedRedisMessagePool;
import io.netty.handler.codec.redis.RedisDecoder;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorSocket;
import io.penstock.node.door.DoorValues;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/// The door, open.
final class RespServer implements Door {
  private static final Logger LOG = LoggerFactory.getLogger(RespServer.class);
  private static final int MOST_LINE_BYTES = 64 << 10;

  private final RespHouse house;
  private final DoorSocket socket;
  private final Mono<Void> drained = Mono.defer(this::drainNow).cache();
  private final Mono<Void> closed = Mono.defer(this::closeNow).cache();

  private RespServer(RespHouse house) throws IOException {
    this.house = house;
    this.socket =
        DoorSocket.bind(house.terms(), DoorSettings.RESP.name(), house.limits().mostConnections(), this::accept);
    house.terms().spaces().all().forEach(space -> space.values().onGone(name -> goesWith(space.values(), name)));
  }

  /// The other value of a pair goes with the first.
  private static void goesWith(DoorValues values, String name) {
    String other = EngineKey.other(name);
    if (other != null) {
      values.remove(other).subscribe(removed -> {},
          failure -> LOG.warn("half a pair stays: {}", failure.toString()));
    }
  }

  /// Listens where `house` says.
  ///
  /// @return cold; binds on a thread that may wait
  static Mono<RespServer> listen(RespHouse house) {
    return Mono.fromCallable(() -> new RespServer(house)).subscribeOn(house.terms().threads().decisions());
  }

  private void accept(Channel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    ServerTls tls = house.terms().tls();
    if (tls != null) {
      pipeline.addLast(tls.handler(channel.alloc()));
    }
    RespConnection connection = new RespConnection(house, tls == null);
    channel.config().setRecvByteBufAllocator(new ValueReads(connection));
    pipeline.addLast(new ValueReads.Ends(), new LineEnds(),
        new RedisDecoder(MOST_LINE_BYTES, FixedRedisMessagePool.INSTANCE, true),
        DecoderWords.INSTANCE, connection);
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
    house.drain();
    return socket.drain(house::underWay, house::takeNoMore);
  }

  @Override
  public Mono<Void> close() {
    return closed;
  }

  private Mono<Void> closeNow() {
    house.drain();
    return socket.end().then(socket.idle(house::underWay));
  }
}
