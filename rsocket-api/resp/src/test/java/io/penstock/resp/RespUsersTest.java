package io.penstock.resp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Users at the door who show wrong passwords, and the others behind their address.
@Timeout(300)
final class RespUsersTest {
  private static final String WRONG = "-WRONGPASS invalid username-password pair or user is disabled.";
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";

  @TempDir
  private Path folder;

  private OpenDoor open() throws IOException {
    UserFile users = UserFile.read(Files.write(folder.resolve("users"), List.of(line("alice"), line("bob"),
        UserFile.lineOf("router", TOKEN.toCharArray()))));
    return new OpenDoor(16 << 20, tier -> tier, Map.of(), Access.of(() -> users, AccessRules::open));
  }

  private static String line(String user) {
    return UserFile.lineOf(user, (user + "'s own").toCharArray(), 20, new SecureRandom());
  }

  @Test
  void userWithWrongPasswords_keepsNoOtherOut() throws IOException {
    try (OpenDoor door = open(); RespClient wrong = door.connect()) {
      for (int i = 0; i < 40; i++) {
        assertThat(wrong.call("AUTH", "bob", "guess " + i)).isEqualTo(WRONG);
      }
      try (RespClient alice = door.connect(); RespClient router = door.connect()) {
        assertThat(alice.call("AUTH", "alice", "alice's own")).isEqualTo("+OK");
        assertThat(alice.call("SET", "k", "value")).isEqualTo("+OK");
        assertThat(new String(requireNonNull(alice.bulk("CLIENT", "INFO")), StandardCharsets.UTF_8))
            .contains(" user=alice ");
        assertThat(router.call("AUTH", TOKEN)).isEqualTo("+OK");
      }
      wrong.call("PING");
      assertThat(wrong.call("GET", "k")).startsWith("-NOAUTH");
    }
  }

  /// As a client does that was started with the password of yesterday.
  @Test
  void userWhoShowsOneWrongPasswordOnAndOn_keepsItselfInWithTheRightOne() throws IOException {
    try (OpenDoor door = open(); RespClient wrong = door.connect(); RespClient right = door.connect()) {
      for (int i = 0; i < 40; i++) {
        assertThat(wrong.call("AUTH", "alice", "of yesterday")).isEqualTo(WRONG);
      }
      assertThat(right.call("AUTH", "alice", "alice's own")).isEqualTo("+OK");
      assertThat(right.call("SET", "k", "value")).isEqualTo("+OK");
    }
  }
}
