# Sourced by ./sonde and ./test: finds the JDK 25 that building needs.
java_home() {
    for candidate in "${JAVA_HOME-}" /usr/lib/jvm/* /opt/jdk* /opt/java/* \
        "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
        [ -x "$candidate/bin/javac" ] || continue
        case $(cat "$candidate/release" 2>/dev/null) in
        *'JAVA_VERSION="25'[.\"]*) echo "$candidate" && return ;;
        esac
    done
    echo "sonde: building needs a JDK 25 and found none in \$JAVA_HOME, /usr/lib/jvm, /opt,
       ~/.sdkman or ~/.jdks; install one (Debian: temurin-25-jdk from Adoptium's repository)
       or set JAVA_HOME" >&2
    return 1
}
