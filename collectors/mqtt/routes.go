package mqtt

// routes finds the points that read a topic.
type routes struct {
	exact map[string][]*point
	wild  []*point // in the order of the configuration
}

func (r *routes) add(p *point) {
	if wildcard(withoutGroup(p.Topic)) {
		r.wild = append(r.wild, p)
		return
	}
	if r.exact == nil {
		r.exact = map[string][]*point{}
	}
	topic := withoutGroup(p.Topic)
	r.exact[topic] = append(r.exact[topic], p)
}

// find returns the points that read a topic; none when nobody does.
func (r *routes) find(topic string) []*point {
	found := r.exact[topic]
	for _, p := range r.wild {
		if matches(withoutGroup(p.Topic), topic) {
			found = append(found[:len(found):len(found)], p)
		}
	}
	return found
}
