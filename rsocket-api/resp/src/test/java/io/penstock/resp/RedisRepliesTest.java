package io.penstock.resp;

import static io.penstock.resp.RespClient.bytes;
import static io.penstock.resp.RespClient.request;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.config.RespSettings;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.UserFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Requests, well formed and not, get the replies that Redis 7.0 gives, byte by byte, in RESP2 and RESP3. Skipped
/// without `redis-server` 7.0.
@Timeout(300)
final class RedisRepliesTest {
  private static final String SECRET = "secret";
  private static final String LAST = "the-last-one";
  private static final Pattern ESCAPE = Pattern.compile("\\\\(x[0-9A-Fa-f]{2}|.)");

  /// Cases whose replies are to differ, and why.
  private static final Map<String, String> WANTED = Map.ofEntries(
      Map.entry("| $3\\r\\nGET\\r\\n", "a client that sends replies is out of step: its connection ends"),
      Map.entry("| :5\\r\\n", "as above"),
      Map.entry("| *-5\\r\\n", "a length below -1 is none, here as in a string"),
      Map.entry("SET \"\" v", "the empty key is no name of a value"),
      Map.entry("SCAN -1", "a cursor is no negative number"),
      Map.entry("SELECT 16", "there are more databases"),
      Map.entry("AUTH a", "a node without users takes everyone"),
      Map.entry("HELLO 2", "another server, and its version"),
      Map.entry("HELLO 3", "as above"),
      Map.entry("CLIENT SETINFO LIB-NAME x", "of Redis 7.2"),
      Map.entry("CLIENT LIST", "INFO and the metrics of the node tell of connections"),
      Map.entry("CLIENT TRACKING ON", "clients keep nothing of what is stored"),
      Map.entry("CONFIG SET hz 10", "settings are those of the node"),
      Map.entry("COMMAND COUNT", "fewer commands"),
      Map.entry("OBJECT", "no such command"),
      Map.entry("OBJECT ENCODING nosuch", "as above"),
      Map.entry("MULTI ; DISCARD", "a value becomes visible by itself"),
      Map.entry("MSET k v l w ; MGET k l", "as above"),
      Map.entry("KEYS *", "SCAN: no reply may be without bounds"),
      Map.entry("APPEND k v", "values are not changed in place"),
      Map.entry("INCR k", "as above"),
      Map.entry("TIME now", "no such command"),
      Map.entry("SET k v GET", "no request both reads a value and changes it"),
      Map.entry("GETSET k v", "as above"),
      Map.entry("GETDEL k", "as above"),
      Map.entry("GETEX k", "as above"),
      Map.entry("auth: NONSENSE", "a client that is not known hears nothing of commands"),
      Map.entry("auth: PING", "a look whether the door answers needs no password"),
      Map.entry("auth: ECHO a", "as above"),
      Map.entry("auth: CLIENT GETNAME", "libraries say who they are before they say AUTH"),
      Map.entry("auth: HELLO 3", "the text of Redis 7.2"));

  @TempDir
  private Path folder;

  private static List<String> cases() throws IOException {
    try (InputStream file = requireNonNull(RedisRepliesTest.class.getResourceAsStream("redis-requests.txt"))) {
      return new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines()
          .filter(line -> !line.isBlank() && !line.startsWith("# ")).toList();
    }
  }

  private static byte[] plain(String text) {
    return bytes(ESCAPE.matcher(text).replaceAll(found -> Matcher.quoteReplacement(
        switch (found.group(1).charAt(0)) {
          case 'r' -> "\r";
          case 'n' -> "\n";
          case 't' -> "\t";
          case 'x' -> Character.toString(Integer.parseInt(found.group(1).substring(1), 16));
          default -> found.group(1);
        })));
  }

  private static byte[] words(String one) {
    return request((Object[]) List.of(one.strip().split(" ")).stream()
        .map(word -> word.equals("\"\"") ? new byte[0] : plain(word)).toArray(byte[][]::new));
  }

  /// The bytes of a case, and behind them a request whose reply is the last one.
  private static byte[] sent(String requests, boolean isClosed) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String one : requests.split(" ; ")) {
      all.writeBytes(one.startsWith("| ") ? plain(one.substring(2)) : words(one));
    }
    if (isClosed) {
      all.writeBytes(request("AUTH", "default", SECRET));
    }
    all.writeBytes(request("ECHO", LAST));
    return all.toByteArray();
  }

  /// What a server replies to a case.
  private static String replies(RespClient client, String requests, boolean isNew, boolean isThree,
      boolean isClosed) throws IOException {
    if (!isNew) {
      client.call("CLIENT", "SETNAME", "x");
      client.call("CLIENT", "SETNAME", "");
    }
    if (isThree && !isNew) {
      client.send(request("HELLO", "3"));
      upToLast(client.send(request("ECHO", "hello")), "hello");
    }
    return upToLast(client.send(sent(requests, isClosed)), LAST);
  }

  private static String upToLast(RespClient client, String last) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String line = client.line();; line = client.line()) {
      if (line.startsWith("(end)")) {
        return all + line;
      }
      all.append(line).append("\r\n");
      if (line.equals(last)) {
        return all.toString();
      }
    }
  }

  private interface Server {
    RespClient connect() throws IOException;
  }

  private static String ask(Server server, String line, boolean isThree) throws IOException {
    String requests = line.replaceFirst("^(auth: )?(new: )?", "");
    boolean isNew = line.startsWith("new: ") || line.startsWith("auth: new: ");
    boolean isClosed = line.startsWith("auth: ");
    try (RespClient cleaner = server.connect(); RespClient client = server.connect()) {
      if (isClosed) {
        cleaner.call("AUTH", SECRET);
      }
      assertThat(cleaner.call("FLUSHALL")).isEqualTo("+OK");
      return replies(client, requests, isNew, isThree, isClosed);
    } catch (IOException e) {
      throw new IOException(line, e);
    }
  }

  @Test
  void replies_areThoseOfRedis_butWhereTheyAreToDiffer() throws IOException {
    UserFile users = UserFile.read(Files.write(folder.resolve("users"),
        List.of(UserFile.lineOf("default", SECRET.toCharArray(), 20, new SecureRandom()))));
    try (OpenDoor open = new OpenDoor(16 << 20, tier -> tier, Map.of(RespSettings.FLUSH, "true"), Access.open());
        OpenDoor closed = new OpenDoor(16 << 20, tier -> tier, Map.of(RespSettings.FLUSH, "true"),
            Access.of(() -> users, AccessRules::open));
        RedisServer openRedis = new RedisServer(folder);
        RedisServer closedRedis = new RedisServer(folder, "--requirepass", SECRET)) {
      open.wallMillis.set(System.currentTimeMillis());
      closed.wallMillis.set(System.currentTimeMillis());
      try (RespClient client = openRedis.connect()) {
        String facts = new String(requireNonNull(client.bulk("INFO", "server")), StandardCharsets.US_ASCII);
        assumeTrue(facts.contains("redis_version:7.0."), "redis-server is of another version than 7.0");
      }
      Map<String, String> unwanted = new TreeMap<>();
      for (boolean isThree : new boolean[] {false, true}) {
        for (String line : cases()) {
          boolean isClosed = line.startsWith("auth: ");
          if (isThree && isClosed) {
            continue; // HELLO needs the password
          }
          String redis = ask(isClosed ? closedRedis::connect : openRedis::connect, line, isThree);
          String door = ask(isClosed ? closed::connect : open::connect, line, isThree);
          if (door.equals(redis) == WANTED.containsKey(line)) {
            unwanted.put((isThree ? "3 " : "2 ") + line, "Redis: " + shown(redis) + "\n  door: " + shown(door));
          }
        }
      }
      unwanted.forEach((line, both) -> System.out.println(line + "\n  " + both));
      assertThat(unwanted).isEmpty();
    }
  }

  private static String shown(String replies) {
    return replies.replace("\r\n", "\\r\\n");
  }
}
