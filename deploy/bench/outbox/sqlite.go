package main

import (
	"database/sql"
	"errors"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// sqlite is a table with a write-ahead log that is synced at each commit.
type sqlite struct {
	group
	db                   *sql.DB
	insert, read, remove *sql.Stmt
	came                 chan struct{} // holds one: there may be more records
}

func openSQLite(dir string) (store, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "queue.sqlite")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec("CREATE TABLE IF NOT EXISTS queue (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &sqlite{db: db, came: make(chan struct{}, 1)}
	s.write = s.store
	for text, to := range map[string]**sql.Stmt{
		"INSERT INTO queue (body) VALUES (?)":              &s.insert,
		"SELECT seq, body FROM queue ORDER BY seq LIMIT ?": &s.read,
		"DELETE FROM queue WHERE seq <= ?":                 &s.remove,
	} {
		if *to, err = db.Prepare(text); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return s, nil
}

func (s *sqlite) store(bodies [][]byte) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(s.insert)
	for _, body := range bodies {
		if _, err := insert.Exec(body); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	select {
	case s.came <- struct{}{}:
	default:
	}
	return nil
}

func (s *sqlite) drain(n, batch int, sent func([][]byte)) error {
	for n > 0 {
		bodies, last, err := s.oldest(min(batch, n))
		if err != nil {
			return err
		}
		if len(bodies) == 0 {
			<-s.came
			continue
		}
		sent(bodies)
		s.turn.Lock() // the group's: SQLite has one writer
		_, err = s.remove.Exec(last)
		s.turn.Unlock()
		if err != nil {
			return err
		}
		n -= len(bodies)
	}
	return nil
}

func (s *sqlite) oldest(most int) (bodies [][]byte, last int64, err error) {
	rows, err := s.read.Query(most)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&last, &body); err != nil {
			return nil, 0, err
		}
		bodies = append(bodies, body)
	}
	return bodies, last, rows.Err()
}

func (s *sqlite) close() error { return s.db.Close() }
