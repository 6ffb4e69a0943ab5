package io.penstock.lab.attack;

import io.netty.channel.Channel;
import io.penstock.wire.transport.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Requests of HTTP by pages and proxies that the node must refuse: WebSockets of foreign origins, admin endpoints
/// under foreign names, and connections to them that never finish their request.
final class Doors implements Attack {
  private static final String UPGRADE = "GET " + Endpoint.WEB_SOCKET_PATH + " HTTP/1.1\r\nHost: localhost\r\n"
      + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  private static final Map<String, String> ORIGINS = Map.of(
      "a foreign Origin", "Origin: https://stranger.example\r\n\r\n",
      "two Origins", "Origin: \r\nOrigin: https://stranger.example\r\n\r\n",
      "two equal Origins", "Origin: https://stranger.example\r\nOrigin: https://stranger.example\r\n\r\n",
      "an empty Origin", "Origin: \r\n\r\n");
  private static final String SLOW = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
  private static final int SLOW_CONNECTIONS = 64;
  private static final int AT_A_TIME = 8;
  private static final int SLOW_TICKS = 10;

  private record Slow(HttpStranger client, Channel channel) {}

  private final Attackers attackers;
  private final List<Slow> slow = new ArrayList<>();
  private int ticks;

  Doors(Attackers attackers) {
    this.attackers = attackers;
  }

  @Override
  public void tick() {
    ORIGINS.forEach((what, origin) -> attackers.connectToWebSocket(new HttpStranger(UPGRADE + origin,
        line -> requireRefused(line, " 101 ", "a WebSocket with " + what))));
    attackers.connectToAdmin(new HttpStranger("GET /metrics HTTP/1.1\r\nHost: stranger.example\r\n\r\n",
        line -> requireRefused(line, " 200 ", "the admin endpoints by a foreign Host")));
    attackers.connectToAdmin(new HttpStranger("NOT HTTP AT ALL \0\r\n\r\n", line -> {}));
    slow.removeIf(one -> !one.channel().isOpen());
    for (int more = Math.min(AT_A_TIME, SLOW_CONNECTIONS - slow.size()); more > 0; more--) {
      HttpStranger client = new HttpStranger(SLOW, line -> {});
      Channel channel = attackers.connectToAdmin(client);
      if (channel != null) {
        slow.add(new Slow(client, channel));
      }
    }
    if (++ticks % SLOW_TICKS == 0) {
      slow.forEach(one -> one.client().say("X-Slow: 1\r\n"));
    }
  }

  private void requireRefused(String line, String status, String what) {
    if (line.contains(status)) {
      attackers.breach(what);
    }
  }
}
